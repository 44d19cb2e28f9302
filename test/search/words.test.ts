import { describe, expect, it } from 'vitest'
import { staticModel } from '../../src/app/assets.ts'
import { createStaticEmbedder } from '../../src/search/embedders/static/static-embedder.ts'
import { documentTexts, documentVectors } from '../../src/search/index/document-texts.ts'
import { createMeaning } from '../../src/search/index/meaning.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { compareWords } from '../../src/search/index/words/like-words.ts'
import { createWordVectors, WordVectors } from '../../src/search/index/words/word-vectors.ts'
import type { SearchDocument } from '../../src/search/search-index.ts'
import { WordList } from '../../src/search/spelling/word-list.ts'
import { documentOf } from './support/documents.ts'
import { plainVectors } from './support/plain-vectors.ts'

const { signal } = new AbortController()
const embedder = await createStaticEmbedder(staticModel)
const wordVector = (word: string) => embedder.wordVector!(word)

describe('vectors of words', () => {
  const query = ['weather', 'rain', 'xqzt']
  const words = ['forecast', 'the', 'climate', 'invoice']
  const others = ['umbrella', 'tax']

  function listOf(all: readonly string[]) {
    const list = new WordList()
    return { list, numbers: Uint32Array.from(all, (word) => list.add(word)!) }
  }

  function cosine(left: string, right: string): number {
    const [first, second] = [left, right].map((word) => wordVector(word).subarray(0, 64))
    const dot = first!.reduce((sum, value, at) => sum + value * second![at]!, 0)
    return dot / (Math.hypot(...first!) * Math.hypot(...second!) || 1)
  }

  it('give the highest cosine of each word with those of the other side', () => {
    const vectors = createWordVectors(embedder)!
    vectors.begin(query)
    const { list, numbers } = listOf(others)
    vectors.compare({}, () => ({ name: [words], others: numbers }), list)
    const all = [...words, ...others]
    for (const [at, word] of all.entries())
      expect(vectors.highest(at)).toBeCloseTo(Math.max(0, ...query.map((other) => cosine(word, other))), 1)
    for (const [at, word] of query.entries())
      expect(vectors.highestOfQuery(at)).toBeCloseTo(
        Math.max(0, ...all.map((other) => cosine(word, other))),
        1,
      )
  })

  it('weigh a word by what it tells about a text, an unknown one not at all', () => {
    const vectors = createWordVectors(embedder)!
    const [weather, the, unknown] = vectors.begin(['weather', 'the', '🜁'])
    expect(weather).toBeGreaterThan(5 * the!)
    expect(unknown).toBe(0)
  })

  it('stay right when more words were compared than are kept, and when a number names another word', () => {
    const vectors = new WordVectors((word) =>
      word.startsWith('w') ? wordVector('invoice') : wordVector(word),
    )
    const umbrella = {}
    const compareUmbrella = () => {
      const { list, numbers } = listOf(['umbrella'])
      vectors.begin(['rain'])
      vectors.compare(umbrella, () => ({ name: [], others: numbers }), list)
      expect(vectors.highest(0)).toBeCloseTo(Math.max(0, cosine('rain', 'umbrella')), 1)
    }
    compareUmbrella()
    for (let round = 0; round < 80; round++) {
      vectors.begin([])
      const made = Array.from({ length: 500 }, (_, at) => `w${round}x${at}`)
      vectors.compare({}, () => ({ name: [made], others: new Uint32Array() }), new WordList())
    }
    compareUmbrella()
    for (const word of ['umbrella', 'tax']) {
      const { list, numbers } = listOf([word])
      vectors.compare({}, () => ({ name: [], others: numbers }), list)
      expect(vectors.highest(0)).toBeCloseTo(Math.max(0, cosine('rain', word)), 1)
    }
  })
})

describe('words one by one', () => {
  const likeness = (text: string, name: string, ownWords: readonly string[] = []) => {
    const query = text.split(' ').map((word) => ({ word, share: 1, isIn: () => false }))
    const list = new WordList()
    const words = Uint32Array.from(ownWords, (word) => list.add(word)!)
    return compareWords(query, createWordVectors(embedder)!, list)!({
      slot: 0,
      document: { name },
      words: () => words,
    })
  }

  it('count how much of a name is in the query, as it is written or in its parts', () => {
    expect(likeness('github issues', 'GitHub')).toBeGreaterThan(likeness('github issues', 'Git Hub'))
    expect(likeness('weather in berlin', 'getWeather')).toBeGreaterThan(
      likeness('weather in berlin', 'getInvoice'),
    )
    expect(likeness('weather', 'Weather Tax Invoice')).toBeLessThan(likeness('weather', 'Weather'))
  })

  it('count how much of the query is in the texts', () => {
    const query = 'translate documents'
    expect(likeness(query, 'X', ['translation', 'files'])).toBeGreaterThan(
      likeness(query, 'X', ['translation']),
    )
    expect(likeness(query, 'X', ['translation'])).toBeGreaterThan(likeness(query, 'X', ['weather']))
  })

  it('cannot be compared for a query of unknown words', () => {
    const query = [{ word: '🜁', share: 1, isIn: () => true }]
    expect(compareWords(query, createWordVectors(embedder)!, new WordList())).toBeUndefined()
  })

  const documents = [
    documentOf({
      id: 'named',
      name: 'Invoices',
      description:
        'For shops and small firms: stock, orders, staff, shifts, taxes and all the paper of an office.',
    }),
    documentOf({
      id: 'other',
      name: 'Acme',
      description: 'Sends a bill to a customer and reminds the customer to pay the bill.',
    }),
  ]

  async function indexOf(all: readonly SearchDocument[], model = embedder) {
    const vectors = plainVectors()
    const meaning = createMeaning(model, vectors)
    const index = createMemoryIndex({ meaning: () => meaning })
    await index.apply(
      all.map((document) => ({ id: document.id, document })),
      1,
    )
    for (const document of all) {
      const made = await model.embed(documentTexts(document), 'document', signal)
      const entry = { attributes: document, vectors: documentVectors(made.map(({ vector }) => vector)) }
      await vectors.apply([{ id: document.id, entry }], 1)
    }
    return (text: string) => index.search({ text, filter: {}, limit: 10, sort: 'relevance' }, signal)
  }

  it('raise an agent whose name is what the query asks for, whatever else its description tells', async () => {
    const query = 'make an invoice for a customer'
    const { wordVector: _, ...withoutWords } = embedder
    const before = await (await indexOf(documents, withoutWords))(query)
    const after = await (await indexOf(documents))(query)
    const leadOf = ({ hits }: typeof after) => {
      const scoreOf = (id: string) => hits.find((hit) => hit.id === id)!.score
      return scoreOf('named') - scoreOf('other')
    }
    expect(leadOf(after)).toBeGreaterThan(leadOf(before))
    expect(after.hits[0]!.id).toBe('named')
    const [named, other] = after.hits.map(({ why }) => why.scores.words!)
    expect(named).toBeGreaterThan(other!)
    expect(named).toBeLessThanOrEqual(1)
  })

  it('change neither the explanation of a score nor the lead of an exact name', async () => {
    const { wordVector: _, ...withoutWords } = embedder
    const [before, after] = [await indexOf(documents, withoutWords), await indexOf(documents)]
    for (const query of ['bill for a customer', 'Invoices']) {
      const [{ hits: plain }, { hits }] = [await before(query), await after(query)]
      for (const { id, why } of hits) {
        const other = plain.find((hit) => hit.id === id)!.why
        expect(why.scores.lexical).toBeCloseTo(other.scores.lexical!, 10)
        expect(why.similarity).toBe(other.similarity)
        expect(other.scores).not.toHaveProperty('words')
      }
    }
    const [exact] = (await after('Invoices')).hits
    expect(exact!.score).toBeGreaterThan(1)
    expect(exact!.score).toBe((await before('Invoices')).hits[0]!.score)
  })
})
