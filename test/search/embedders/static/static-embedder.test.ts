import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStaticEmbedder } from '../../../../src/search/embedders/static/static-embedder.ts'
import { createWordPiece } from '../../../../src/search/embedders/static/word-piece.ts'
import { plainVector, someTable, type TableContent, tableFolder } from './table-folder.ts'
import { indexOf, vectors, vocabularyOfVectors } from './vectors.ts'

const open = new AbortController().signal
type Pair = TableContent['sequences'][number]

const letters = ['[UNK]', 'a', 'b', 'c', 'd', '##s']

async function embedAll(table: TableContent, texts: readonly string[]) {
  await using folder = await tableFolder(table)
  await using embedder = await createStaticEmbedder(folder.path)
  return await embedder.embed(texts, 'document', open)
}

describe('the static embedder', () => {
  it('sums pieces and every sequence that occurs, without [UNK]', async () => {
    const ab = 6
    const table: TableContent = {
      vocabulary: letters,
      sequences: [
        [1, 2],
        [ab, 3],
        [2, 3],
      ],
      dimensions: 8,
      rows: [90, 1, 2, 3, 4, 5, 6, 7, 8].map((value, at) =>
        Array.from({ length: 8 }, (_, dimension) => (at === 0 ? value : dimension === at - 1 ? value : 0)),
      ),
      scales: [1, 1, 1, 1, 1, 1, 0.5, 1, 2],
    }
    const [first, unknown, none] = await embedAll(table, ['a b a, b c as b', '???', ''])
    // a b a [UNK] b c a ##s b: a 3, b 3, c 1, ##s 1, ab 1, bc 1
    const sum = [3 * 1, 3 * 2, 1 * 3, 0, 1 * 5, 1 * 6 * 0.5, 0, 1 * 8 * 2]
    expect(Array.from(first!.vector)).toEqual(
      sum.map((value) => expect.closeTo(value / Math.hypot(...sum), 6)),
    )
    expect(Array.from(unknown!.vector)).toEqual(new Array(8).fill(0))
    expect(Array.from(none!.vector)).toEqual(new Array(8).fill(0))
    expect([first!.coverage, unknown!.coverage, none!.coverage]).toEqual([6 / 8, 0, 0])
  })

  it('is zero where the pieces cancel out', async () => {
    const table = { vocabulary: letters, sequences: [], dimensions: 1, scales: [1, 1, 1, 1, 1, 1] }
    const [embedding] = await embedAll({ ...table, rows: [[0], [5], [-5], [0], [0], [0]] }, ['a b'])
    expect(Array.from(embedding!.vector)).toEqual([0])
  })

  it('agrees with a plain sum over any pieces and sequences', async () => {
    const someWords = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'as', 'q'), { maxLength: 40 })
    const someSequences = fc
      .array(fc.tuple(fc.nat(), fc.nat({ max: letters.length - 1 })), { maxLength: 30 })
      .map((list) =>
        list.reduce<Pair[]>((all, [left, right]) => {
          const pair: Pair = [left % (letters.length + all.length), right]
          return all.some((other) => other.join() === pair.join()) ? all : all.concat([pair])
        }, []),
      )
    const cut = createWordPiece(indexOf(letters))
    await fc.assert(
      fc.asyncProperty(someSequences, fc.array(someWords), async (sequences, words) => {
        const table = someTable(letters, sequences)
        const texts = words.map((list) => list.join(' '))
        const embeddings = await embedAll(table, texts)
        for (const [at, text] of texts.entries()) {
          const ids = Array.from(cut(text).ids)
          expectClose(embeddings[at]!.vector, plainVector(table, ids))
        }
      }),
      { numRuns: 50 },
    )
  })

  it('reads the first 254 pieces, however many sequences end at each', async () => {
    const chain = letters.map((_, at): Pair => [at === 0 ? 1 : letters.length + at - 1, at % 2 === 0 ? 2 : 1])
    const table = someTable(letters, chain)
    const [embedding] = await embedAll(table, [`${'a b '.repeat(126)}c d a b c`])
    const pieces = [...Array.from({ length: 252 }, (_, at) => 1 + (at % 2)), 3, 4]
    expectClose(embedding!.vector, plainVector(table, pieces))
  })

  it('agrees with a plain sum for the texts of the vectors', async () => {
    const texts = Object.entries(vectors.texts)
    const pairs = texts.flatMap(([, ids]) =>
      toIds(ids).flatMap((id, at, all) => [[all[at - 1] ?? id, id] as const]),
    )
    const table = someTable(vocabularyOfVectors(), distinct(pairs).slice(0, 500), 4)
    const embeddings = await embedAll(
      table,
      texts.map(([text]) => text),
    )
    for (const [at, [, ids]] of texts.entries())
      expectClose(embeddings[at]!.vector, plainVector(table, toIds(ids).slice(0, 254)))
  })

  it('names its model by the content of the table', async () => {
    const model = async (table: TableContent, change = {}) => {
      await using folder = await tableFolder(table, change)
      await using embedder = await createStaticEmbedder(folder.path)
      expect(embedder.dimensions).toBe(table.dimensions)
      return embedder.model
    }
    const table = someTable(letters, [[1, 2]])
    const name = await model(table)
    expect(name).toMatch(/^tiny:[0-9a-f]{12}$/)
    expect(await model(table, { teacher: 'somebody' })).toBe(name)
    expect(await model(table, { name: 'other' })).toBe(name.replace('tiny', 'other'))
    expect(await model(someTable(letters, [[2, 1]]))).not.toBe(name)
    expect(await model({ ...table, scales: table.scales.map((scale) => scale / 2) })).not.toBe(name)
  })

  it('yields to other work while it embeds a batch, and gives each batch its own vectors', async () => {
    await using folder = await tableFolder(someTable(letters, [[1, 2]], 256))
    await using embedder = await createStaticEmbedder(folder.path)
    const batch = (unit: string) => new Array<string>(3000).fill(`${unit} `.repeat(254))
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    const [first, other] = await Promise.all(
      ['a b', 'c d'].map((unit) => embedder.embed(batch(unit), 'document', open)),
    )
    clearInterval(timer)
    expect(turns).toBeGreaterThan(5)
    for (const [unit, embeddings] of [
      ['a b', first],
      ['c d', other],
    ] as const) {
      const [alone] = await embedder.embed(batch(unit).slice(0, 1), 'query', open)
      expect(embeddings!.at(-1)).toEqual(alone)
      expect(embeddings![1500]).toEqual(alone)
    }
  })

  it('stops with the reason of an aborted signal', async () => {
    await using folder = await tableFolder(someTable(letters, [], 256))
    await using embedder = await createStaticEmbedder(folder.path)
    const reason = new Error('no longer wanted')
    await expect(embedder.embed(['a'], 'query', AbortSignal.abort(reason))).rejects.toBe(reason)
    const controller = new AbortController()
    setImmediate(() => controller.abort(reason))
    let taken = 0
    const texts = new Proxy(new Array<string>(20_000).fill('a b c d '.repeat(60)), {
      get(list, key) {
        if (key !== 'length') taken++
        return Reflect.get(list, key)
      },
    })
    await expect(embedder.embed(texts, 'document', controller.signal)).rejects.toBe(reason)
    expect(taken).toBeLessThan(10_000)
  })
})

function toIds(ids: string): number[] {
  return ids === '' ? [] : ids.split(' ').map(Number)
}

function distinct(pairs: readonly Pair[]): Pair[] {
  const seen = new Map(pairs.map((pair) => [pair.join(), pair]))
  return [...seen.values()]
}

function expectClose(vector: Float32Array, expected: readonly number[]): void {
  expect(vector).toHaveLength(expected.length)
  for (const [at, value] of expected.entries()) expect(Math.abs(vector[at]! - value)).toBeLessThan(1e-6)
}
