import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWordPiece } from '../../../../src/search/embedders/static/word-piece.ts'
import { growth } from '../../../support/growth.ts'
import { rounds } from '../../../support/rounds.ts'
import { indexOf, mixtureOf, vectors, vocabularyOfVectors } from './vectors.ts'

const index = indexOf(vocabularyOfVectors())
const cut = createWordPiece(index)
const cutWhole = createWordPiece(index, 200_000)
const idsOf = (text: string) => Array.from(cutWhole(text).ids)
const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('[CLS]', ' ', 'ing', 'É', '\ud800', '中'), fc.string()),
})

const somePiece = fc.string({ unit: fc.constantFrom('a', 'b', 'λ', '😀'), minLength: 1, maxLength: 4 })
const someVocabulary = fc
  .uniqueArray(fc.tuple(fc.constantFrom('', '##'), somePiece), {
    selector: (piece) => piece.join(''),
    maxLength: 40,
  })
  .map((pieces) => ['[UNK]', ...pieces.map((piece) => piece.join(''))])

describe('word pieces', () => {
  it('are those of the reference for every text of the vectors', () => {
    const texts = Object.entries(vectors.texts)
    expect(texts.length).toBeGreaterThan(350)
    const differing = texts.filter(([text, ids]) => idsOf(text).join(' ') !== ids)
    expect(differing.map(([text, ids]) => [text, ids, idsOf(text).join(' ')])).toEqual([])
  })

  it.each(Object.entries(vectors.repeated))('are those of the reference for many of %j', (unit, expected) => {
    const ids = idsOf(unit.repeat(expected.times))
    expect(ids).toHaveLength(expected.pieces)
    expect(hash('sha256', ids.join(' '))).toBe(expected.sha256)
  })

  it('are those of the reference for a long mixture', () => {
    const ids = idsOf(mixtureOf(vectors.mixture))
    expect(ids).toHaveLength(vectors.mixture.pieces)
    expect(hash('sha256', ids.join(' '))).toBe(vectors.mixture.sha256)
  })

  it('are at most the requested number, the first ones', () => {
    const text = mixtureOf(vectors.mixture)
    const ids = idsOf(text)
    expect(Array.from(cut(text).ids)).toEqual(ids.slice(0, 254))
    expect(Array.from(createWordPiece(index, 2)('the weather').ids)).toEqual(idsOf('the weather'))
    for (let most = 1; most < 40; most++)
      expect(Array.from(createWordPiece(index, most)(text).ids)).toEqual(ids.slice(0, most))
  })

  it('are greedily the longest, for any vocabulary', async () => {
    const someWords = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'λ', '😀'), minLength: 1 }))
    await fc.assert(
      fc.property(someVocabulary, someWords, (vocabulary, words) => {
        const ids = createWordPiece(indexOf(vocabulary))(words.join(' ')).ids
        expect(Array.from(ids)).toEqual(words.flatMap((word) => cutPlainly(word, vocabulary)).slice(0, 254))
      }),
      { numRuns: rounds(300) },
    )
  })

  it('that begin a word differ from those that continue one', async () => {
    await fc.assert(
      fc.property(someVocabulary, (vocabulary) => {
        const pieceIndex = indexOf(vocabulary)
        for (const piece of vocabulary) {
          const twin = piece.startsWith('##') ? piece.slice(2) : `##${piece}`
          expect([piece, twin].map(pieceIndex.idOf)).toEqual(
            [piece, twin].map((word) => vocabulary.indexOf(word)),
          )
        }
      }),
      { numRuns: rounds(300) },
    )
  })

  it('are not changed by later texts', () => {
    const { ids } = cut('the weather')
    const before = Array.from(ids)
    cut('search agents for email')
    expect([Array.from(ids), before.length]).toEqual([before, 2])
  })

  it('ignore half a surrogate pair', async () => {
    expect(idsOf('wea\ud83dther \ude00\ud83d')).toEqual(idsOf('weather'))
    await fc.assert(
      fc.property(anyText, (text) => {
        expect(idsOf(text)).toEqual(idsOf(text.toWellFormed()))
      }),
    )
  })

  it('of two joined texts are those of each text, whatever was read before', async () => {
    await fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        expect(idsOf(`${left} ${right}`)).toEqual([...idsOf(left), ...idsOf(right)])
      }),
      { numRuns: rounds(300) },
    )
  })

  it.each([
    'a',
    'a ',
    ' ',
    'zq€',
    `${'z'.repeat(99)}€ `,
    'e\u0301\u0316',
    '[',
    '[CLS',
    '[CLS]',
    '각',
    '中',
    '😀',
    '\ud800',
  ])('take time in proportion to the text: %j', async (unit) => {
    const text = (length: number) => unit.repeat(length / unit.length)
    const [small, large] = [text(rounds(100_000)), text(rounds(400_000))]
    const times = await growth(
      () => cutWhole(small),
      () => cutWhole(large),
      3,
    )
    expect(times).toBeLessThan(10)
  })

  it('cost no more than the requested number, however long the text', async () => {
    const [small, large] = ['the weather, '.repeat(100), 'the weather, '.repeat(2_000_000)]
    large.charCodeAt(1)
    const times = await growth(
      () => cut(small),
      () => cut(large),
    )
    expect(times).toBeLessThan(2)
  })
})

describe('coverage', () => {
  const small = indexOf([
    '[UNK]',
    'find',
    '##ing',
    '##s',
    'a',
    'wea',
    '##th',
    '##er',
    '12',
    '##3',
    '[MASK]',
    'λ',
    '中',
    'ø',
  ])
  const coverageOf = (text: string) => createWordPiece(small)(text).coverage

  it.each([
    ['find', 1],
    ['FÍND, find!', 1],
    ['a', 1],
    ['ø', 1],
    ['12', 1],
    ['findsing', 7 / 8],
    ['weather', 3 / 7],
    ['123', 0],
    ['find qqq', 4 / 7],
    ['find [MASK]', 4 / 8],
    ['λ', 0],
    ['中', 0],
    ['find λ中각٣', 4 / 8],
    ['', 0],
    ['... !?', 0],
    [`find ${'x'.repeat(196)}`, 4 / 200],
  ])('of %j is %d', (text, expected) => {
    expect(coverageOf(text)).toBeCloseTo(expected, 12)
  })

  it('separates what English pieces cover from what they do not', () => {
    expect(cut('zzzqqq xyzzy').coverage).toBeLessThan(0.3)
    expect(cut('kubernetes pods').coverage).toBeGreaterThan(0.6)
    expect(cut('搜索小红书笔记').coverage).toBe(0)
  })

  it('counts only the part that was read', () => {
    expect(createWordPiece(small, 2)('find find qqq qqq').coverage).toBe(1)
  })

  it('lies between 0 and 1', async () => {
    await fc.assert(
      fc.property(anyText, (text) => {
        const { coverage } = cut(text)
        expect(coverage >= 0 && coverage <= 1).toBe(true)
      }),
    )
  })
})

/** WordPiece as specified, without optimisations. */
function cutPlainly(word: string, vocabulary: readonly string[]): number[] {
  const characters = Array.from(word)
  const ids: number[] = []
  for (let start = 0; start < characters.length; ) {
    let end = characters.length
    const idAt = () => vocabulary.indexOf((start === 0 ? '' : '##') + characters.slice(start, end).join(''))
    while (end > start && idAt() === -1) end--
    if (end === start) return [0]
    ids.push(idAt())
    start = end
  }
  return ids
}
