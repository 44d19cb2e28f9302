import { describe, expect, it } from 'vitest'
import { synonymsFile } from '../../src/app/assets.ts'
import type { Embedder } from '../../src/search/embedders/embedder.ts'
import { documentTexts, documentVectors } from '../../src/search/index/document-texts.ts'
import { clausesOf, createMeaning } from '../../src/search/index/meaning.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { readSynonyms } from '../../src/search/query/synonyms.ts'
import type { IndexQuery, SearchDocument } from '../../src/search/search-index.ts'
import { documentOf } from './support/documents.ts'
import { plainVectors, tinyEmbedder } from './support/plain-vectors.ts'

const { signal } = new AbortController()
const synonyms = readSynonyms([synonymsFile])

/** An index with words and meaning over the same documents. */
async function home(documents: readonly SearchDocument[], more: Partial<Embedder> = {}) {
  const { embedder: plain, state } = tinyEmbedder()
  const embedder = { ...plain, ...more }
  const vectors = plainVectors()
  const faults: unknown[] = []
  const meaning = createMeaning(embedder, vectors)
  const index = createMemoryIndex({
    meaning: () => meaning,
    synonyms,
    onError: (fault) => faults.push(fault),
  })
  async function put(changed: readonly SearchDocument[], revision: number) {
    await index.apply(
      changed.map((document) => ({ id: document.id, document })),
      revision,
    )
    for (const document of changed) {
      const made = await embedder.embed(documentTexts(document), 'document', signal)
      const entry = { attributes: document, vectors: documentVectors(made.map(({ vector }) => vector)) }
      await vectors.apply([{ id: document.id, entry }], revision)
    }
  }
  await put(documents, 1)
  const ask = (text: string, query: Partial<IndexQuery> = {}) =>
    index.search({ text, filter: {}, limit: 10, sort: 'relevance', ...query }, signal)
  const names = async (text: string, query: Partial<IndexQuery> = {}) =>
    (await ask(text, query)).hits.map(({ id }) => id)
  return { index, vectors, put, ask, names, state, faults }
}

const documents = [
  documentOf({ id: 'sky', name: 'Sky', description: 'weather forecast' }),
  documentOf({
    id: 'office',
    name: 'Office',
    description: 'mail',
    capabilities: [
      { name: 'send_letter', description: 'letter' },
      { name: 'look_outside', description: 'weather' },
    ],
  }),
  documentOf({ id: 'bank', name: 'Bank', description: 'price stocks', category: 'money', tags: ['bank'] }),
]

describe('search by meaning', () => {
  it('finds entries without a word of the query, with their similarity and the best capability', async () => {
    const { ask } = await home(documents)
    const { hits, total } = await ask('umbrella')
    expect(hits.map(({ id }) => id)).toEqual(['sky', 'office'])
    expect(total).toBe(2)
    expect(hits[0]!.why).toMatchObject({ terms: [], capability: null })
    expect(hits[0]!.why.similarity).toBeGreaterThan(0.9)
    expect(hits[1]!.why.capability).toBe('look_outside')
    expect(hits[1]!.why.scores.semantic).toBe(hits[1]!.why.similarity)
  })

  it('looks for the English words of a request, and for its own words that entries have', async () => {
    const inEnglish = async (text: string) => text.replace('Wetter', 'weather').replace('Verein', 'club')
    const { ask, put } = await home(documents, { inEnglish })
    await put([documentOf({ id: 'club', name: 'Club', description: 'der Verein mit Wetter' })], 2)
    const { hits } = await ask('Wetter Verein')
    const terms = new Map(hits.map(({ id, why }) => [id, why.terms]))
    expect(terms.get('sky')).toEqual(['weather'])
    expect(terms.get('club')).toEqual(expect.arrayContaining(['wetter', 'verein']))
  })

  it('looks for synonyms of the words of a request in another language, and for none of its stop words', async () => {
    const inEnglish = async (text: string, without?: ReadonlySet<string>) =>
      text.replace('Wetter', 'weather').replace('das ', without?.has('das') ? '' : 'the ')
    const { ask, put } = await home(documents, { inEnglish })
    await put([documentOf({ id: 'cluster', name: 'Cluster', description: 'Kubernetes, das' })], 2)
    const { hits } = await ask('das Wetter auf k8s')
    const terms = new Map(hits.map(({ id, why }) => [id, why.terms]))
    expect(terms.get('sky')).toEqual(['weather'])
    expect(terms.get('cluster')).toEqual(['kubernetes'])
  })

  it('lowers what a request excludes by a name of another script', async () => {
    const inEnglish = async (text: string) => text.replace('гугл', 'google')
    const { ask, put } = await home(documents, { inEnglish })
    await put([documentOf({ id: 'google', name: 'Google', description: 'weather forecast' })], 2)
    const { hits } = await ask('weather без гугл')
    const factors = Object.fromEntries(hits.map(({ id, why }) => [id, why.scores.excluded]))
    expect(factors).toMatchObject({ google: 0.25, sky: undefined })
  })

  it('lowers the products of a maker that a request excludes', async () => {
    const { ask, put } = await home(documents)
    await put([documentOf({ id: 'gmail', name: 'Gmail', description: 'mail' })], 2)
    const { hits } = await ask('mail without google')
    const factors = Object.fromEntries(hits.map(({ id, why }) => [id, why.scores.excluded]))
    expect(factors).toMatchObject({ gmail: 0.25, office: undefined })
  })

  it('searches by the words as they are if the model cannot tell their English', async () => {
    const { ask, faults } = await home(documents, {
      inEnglish: async () => {
        throw new Error('The table is damaged.')
      },
    })
    expect((await ask('mail')).hits[0]?.id).toBe('office')
    expect(faults).toHaveLength(1)
  })

  it('ranks matches by words and meaning before matches by either', async () => {
    const { names, put } = await home(documents)
    await put([documentOf({ id: 'word', name: 'Word', description: 'umbrella mail of our company' })], 2)
    await put([documentOf({ id: 'both', name: 'Both', description: 'umbrella weather' })], 3)
    const found = await names('umbrella')
    expect(found[0]).toBe('both')
    expect(found).toEqual(expect.arrayContaining(['word', 'sky']))
  })

  it('applies the filter to near entries', async () => {
    const { names } = await home(documents)
    expect(await names('umbrella', { filter: { category: 'money' } })).toEqual([])
    expect(await names('stocks', { filter: { tags: ['bank'] } })).toEqual(['bank'])
  })

  it('omits entries that the index no longer has, or has in another state, although their vectors remain', async () => {
    const { index, names } = await home(documents)
    await index.apply([{ id: 'sky', document: null }], 2)
    await index.apply([{ id: 'office', document: documentOf({ id: 'office', state: 'STAGE' }) }], 3)
    expect(await names('umbrella', { filter: { state: 'ACTIVE' } })).toEqual([])
  })

  it.each([
    ['letters that the model does not know', 'zzzqqq xyzzy'],
    ['Chinese, on which it misleads', '今天天气怎么样 weather'],
  ])('uses words alone for %s', async (_, text) => {
    const { ask } = await home(documents)
    for (const { why } of (await ask(text)).hits) expect(why.similarity).toBeNull()
    expect((await ask('zzzqqq xyzzy')).hits).toEqual([])
  })

  it('matches each part of a query that asks for two things', async () => {
    const many = Array.from({ length: 60 }, (_, at) =>
      documentOf({ id: `filler${at}`, name: `Filler ${at}`, description: 'weather' }),
    )
    const { names } = await home([...many, ...documents])
    const found = await names('what about the weather weather weather weather, and then my stocks price', {
      limit: 100,
    })
    expect(found).toContain('bank')
  })

  it('continues with words, and says so, while the model fails', async () => {
    const { ask, state, faults } = await home(documents)
    state.failing = true
    const { hits, degraded } = await ask('weather')
    expect(hits.map(({ id }) => id)).toEqual(['sky', 'office'])
    expect(degraded).toMatch(/not available/)
    expect(String(faults[0])).toContain('asleep')
  })

  it('embeds a repeated query once', async () => {
    const { ask, state } = await home(documents)
    const before = state.embedded
    await ask('umbrella')
    await ask('umbrella')
    expect(state.embedded).toBe(before + 1)
  })

  it('throws the reason of a signal that aborts', async () => {
    const { index } = await home(documents)
    const query = { text: 'umbrella', filter: {}, limit: 10, sort: 'relevance' } as const
    await expect(index.search(query, AbortSignal.abort(new Error('Enough.')))).rejects.toThrow('Enough.')
  })

  it('drops hits below the minimum score, and counts the rest', async () => {
    const { ask } = await home(documents)
    const all = await ask('umbrella')
    const best = all.hits[0]!.score
    expect((await ask('umbrella', { min_score: best })).total).toBe(1)
    expect((await ask('umbrella', { min_score: best + 0.01 })).total).toBe(0)
  })

  it('pages without gaps or repeats', async () => {
    const many = Array.from({ length: 23 }, (_, at) =>
      documentOf({
        id: `w${at}`,
        name: `W ${at}`,
        description: at % 3 === 0 ? 'weather forecast' : 'forecast umbrella',
      }),
    )
    const { ask } = await home(many)
    const seen: string[] = []
    let page = await ask('umbrella', { limit: 5 })
    while (page.hits.length > 0) {
      seen.push(...page.hits.map(({ id }) => id))
      page = await ask('umbrella', { limit: 5, after: page.hits.at(-1)!.position })
    }
    expect(new Set(seen).size).toBe(23)
    expect(seen.length).toBe(23)
  })

  it('scans the vectors once for a query of several parts, and raises what fits one part', async () => {
    const { embedder } = tinyEmbedder()
    const vectors = plainVectors()
    for (const [id, text] of Object.entries({
      part: 'price',
      both: 'forecast letter',
      other: 'mail letter',
    })) {
      const [made] = await embedder.embed([text], 'document', signal)
      const entry = { attributes: documentOf({ id }), vectors: [made!.vector] }
      await vectors.apply([{ id, entry }], 1)
    }
    let scans = 0
    const counting = new Proxy(vectors, {
      get: (target, name) => {
        if (name === 'nearest') scans++
        return Reflect.get(target, name).bind(target)
      },
    })
    const meaning = createMeaning(embedder, counting)
    const similarityOf = async (text: string) =>
      (await meaning.compare(text, {}, [], signal))?.near.get('part')?.similarity ?? 0
    const asWhole = await similarityOf('weather umbrella forecast price price stocks')
    expect(scans).toBe(1)
    const inParts = await similarityOf('weather umbrella forecast, price price stocks')
    expect(scans).toBe(2)
    expect(inParts).toBeGreaterThan(asWhole + 0.1)
  })

  it('uses words alone on request', async () => {
    const { names } = await home(documents)
    expect(await names('umbrella', { words_only: true })).toEqual([])
  })
})

describe('the texts that are embedded', () => {
  it('split identifiers and keep the words of descriptions', () => {
    const document = documentOf({
      id: 'a',
      name: 'weather_api-v2.getForecast',
      description: 'Says snake_case.',
      tags: ['rain', 'sun'],
      capabilities: [{ name: 'getPrice', description: '' }],
    })
    expect(documentTexts(document)).toEqual([
      'weather api v2 get Forecast',
      'weather api v2 get Forecast: Says snake_case. [rain] [sun]',
      'get Price',
    ])
  })

  it('are cut at the limit of models', () => {
    const [, text] = documentTexts(documentOf({ id: 'a', description: 'word '.repeat(10_000) }))
    expect(text).toHaveLength(2000)
  })
})

describe('the vectors of an entry', () => {
  it('are those of its texts, its own one drawn to that of its name', () => {
    const [name, own, capability] = [
      [0, 1],
      [1, 0],
      [0, -1],
    ].map((numbers) => Float32Array.from(numbers))
    const vectors = documentVectors([name!, own!, capability!])
    expect(vectors).toHaveLength(2)
    expect(vectors[0]![1]! / vectors[0]![0]!).toBeCloseTo(0.3)
    expect(Math.hypot(...vectors[0]!)).toBeCloseTo(1)
    expect(vectors[1]).toEqual(capability)
  })

  it('stay zero for texts without meaning', () => {
    const zero = new Float32Array(2)
    expect(documentVectors([zero, zero])).toEqual([zero])
  })
})

describe('clauses', () => {
  it.each([
    ['Book a flight to Rome and find me a hotel', ['Book a flight to Rome', 'find me a hotel']],
    ['Convert this file to PDF. Then send it to Anna.', ['Convert this file to PDF.', 'send it to Anna.']],
    ['weather forecast', []],
    ['salt and pepper', []],
    ['', []],
  ])('of "%s"', (text, expected) => {
    expect(clausesOf(text)).toEqual(expected)
  })

  it('are at most four', () => {
    expect(clausesOf('one two three, '.repeat(9))).toHaveLength(4)
  })
})
