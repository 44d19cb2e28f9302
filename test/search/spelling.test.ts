import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMisspeller } from '../../bench/eval/misspell.ts'
import { englishWordsFile, staticModel, vectorsWorker } from '../../src/app/assets.ts'
import { createStaticEmbedder } from '../../src/search/embedders/static/static-embedder.ts'
import { createMeaning } from '../../src/search/index/meaning.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import type { SearchDocument } from '../../src/search/search-index.ts'
import { createDictionary } from '../../src/search/spelling/dictionary.ts'
import { editCost, editCounter, leastCost } from '../../src/search/spelling/edit-cost.ts'
import { WordList } from '../../src/search/spelling/word-list.ts'
import { createMemoryVectorStore } from '../../src/search/vectors/memory/memory-vector-store.ts'
import { temporaryFolder } from '../support/command.ts'
import { throughFiles } from '../support/through-files.ts'
import { ask, documentOf, indexOf, restoredIndex } from './support/documents.ts'

const documents = [
  documentOf({ id: 'sky', name: 'Sky', description: 'Weather forecast for every town' }),
  documentOf({ id: 'notes', name: 'Notion', description: 'Reads and writes pages of notes' }),
  documentOf({
    id: 'words',
    name: 'Lingua',
    description: 'Can translate texts into French and keeps a glossary for every town',
  }),
  documentOf({ id: 'data', name: 'Tables', description: 'Queries a database' }),
  documentOf({ id: 'odd', name: 'Wether', description: 'Keeps sheep in any weather' }),
  documentOf({ id: 'draft', name: 'Draft', description: 'Zeppelin tours', state: 'STAGE', owner: 'ann' }),
]
const public_ = { state: 'ACTIVE' } as const

/** An index that knows words which neither its entries nor a model have. */
async function withEnglish(english: readonly string[]) {
  const index = createMemoryIndex({ dictionary: createDictionary(() => english.join('\n')) })
  await index.apply(
    documents.map((document) => ({ id: document.id, document })),
    1,
  )
  return index
}

async function withModel(all: readonly SearchDocument[]) {
  const embedder = await createStaticEmbedder(staticModel)
  const vectors = createMemoryVectorStore({ dimensions: embedder.dimensions, worker: vectorsWorker })
  const meaning = createMeaning(embedder, vectors)
  const index = createMemoryIndex({ meaning: () => meaning })
  await index.apply(
    all.map((document) => ({ id: document.id, document })),
    1,
  )
  return index
}

describe('a right query', () => {
  it.each(['sleep', 'sleeps'])('keeps the English word "%s"', async (text) => {
    const english = ['sleep']
    expect((await ask(await withEnglish(english), { text, filter: public_ })).corrected).toBeUndefined()
  })
})

it('corrects to a word of an agent, however many words hidden agents have', async () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const wordOf = (at: number): string =>
    at < 26 ? `${letters[at]}xx` : wordOf(Math.floor(at / 26) - 1) + letters[at % 26]
  const capability = (from: number) => ({
    name: 'x',
    description: Array.from({ length: 2_000 }, (_, at) => wordOf(from + at)).join(' '),
  })
  const index = createMemoryIndex()
  const hidden = Array.from({ length: 25 }, (_, number) =>
    documentOf({
      id: `hidden${number}`,
      capabilities: Array.from({ length: 5 }, (_, at) => capability(10_000 * number + 2_000 * at)),
      state: 'STAGE',
      owner: 'eve',
    }),
  )
  const all = [...hidden, documentOf({ id: 'bird', name: 'Bird', description: 'Sells a feather' })]
  await index.apply(
    all.map((document) => ({ id: document.id, document })),
    1,
  )
  const { corrected } = await ask(index, { text: 'a fether', filter: public_ })
  expect(corrected).toEqual([{ from: 'fether', to: 'feather' }])
})

it('does not take a short word of a list for the base of another', async () => {
  const query = { text: 'writs pages', filter: public_ }
  const { corrected } = await ask(await withEnglish(['writ']), query)
  expect(corrected).toEqual([{ from: 'writs', to: 'writes' }])
})

describe('a word that only the list of English words has', () => {
  it('is a correction of a long word with one error', async () => {
    const index = await withEnglish(['cryptocurrency', 'abbey'])
    const corrected = async (text: string) => (await ask(index, { text, filter: public_ })).corrected
    expect(await corrected('a crytocurrency')).toEqual([{ from: 'crytocurrency', to: 'cryptocurrency' }])
    expect(await corrected('a crytocurency')).toBeUndefined()
    expect(await corrected('an abbe')).toBeUndefined()
  })

  it('is none of a name', async () => {
    const query = { text: 'pay by Crytocurrency', filter: public_ }
    expect((await ask(await withEnglish(['cryptocurrency']), query)).corrected).toBeUndefined()
  })
})

describe('the list of English words', () => {
  const english = new Set(readFileSync(englishWordsFile, 'utf8').split('\n'))

  it('has words that people ask for and agents seldom write', () => {
    expect(['ramadan', 'tarot', 'karaoke', 'plumber'].filter((word) => !english.has(word))).toEqual([])
  })

  it('has words of the field, newer words and names', () => {
    const words = [
      'perl',
      'gzip',
      'junit',
      'vlan',
      'webinar',
      'ramen',
      'nikkei',
      'randomised',
      'fedex',
      'kustomize',
    ]
    expect(words.filter((word) => !english.has(word))).toEqual([])
  })

  it('lacks rare words that are mostly misspellings', () => {
    expect(['calender', 'wether', 'recieve'].filter((word) => english.has(word))).toEqual([])
  })
})

describe('a query with a derived or colloquial word', () => {
  it.each(['properties of undefined in a map', 'gimme a forecast', 'a thingy for my notes'])(
    'has no correction: %s',
    async (text) => {
      const description = 'Defined things that take time'
      const index = await withModel([...documents, documentOf({ id: 'near', name: 'Near', description })])
      expect((await ask(index, { text, filter: public_ })).corrected).toBeUndefined()
    },
  )

  it('has its misspelt words corrected', async () => {
    const { corrected } = await ask(await withModel(documents), { text: 'gimme a forcast', filter: public_ })
    expect(corrected).toEqual([{ from: 'forcast', to: 'forecast' }])
  })
})

describe('a misspelt query', () => {
  it.each([
    ['forcast', [{ from: 'forcast', to: 'forecast' }], 'sky'],
    ['notoin pages', [{ from: 'notoin', to: 'notion' }], 'notes'],
    ['Notoin pages', [{ from: 'Notoin', to: 'notion' }], 'notes'],
    [
      'translte a text to frnch',
      [
        { from: 'translte', to: 'translate' },
        { from: 'frnch', to: 'french' },
      ],
      'words',
    ],
    ['translat texts', [{ from: 'translat', to: 'translate' }], 'words'],
    ['look into my databsae', [{ from: 'databsae', to: 'database' }], 'data'],
    ['town-wide forcast-like', [{ from: 'forcast', to: 'forecast' }], 'sky'],
    ['townweather', [{ from: 'townweather', to: 'town weather' }], 'sky'],
    ['glos sary', [{ from: 'glos sary', to: 'glossary' }], 'words'],
  ])('"%s" finds what is meant, and says so', async (text, corrected, first) => {
    const found = await ask(await indexOf(documents), { text, filter: public_ })
    expect(found.corrected).toEqual(expect.arrayContaining(corrected))
    expect(found.hits[0]!.id).toBe(first)
  })

  it.each([
    ['a word of the index', 'wether'],
    ['another form of a word of the index', 'glossaries'],
    ['a word that is like none', 'qwzzkj'],
    [
      'a part of an identifier',
      'forcast_town com.forcast @acme/town-forcast forcast-2 https://forcast.example -forcast',
    ],
    ['a word with capitals inside', 'forCast FORCAst'],
    ['three letters', 'twn'],
    ['words in Chinese', '天气预报天气'],
    ['a name that other words make together', 'music like Townweather'],
    ['the highest degree of a word', 'the weatherest town'],
  ])('is left as it is where it is %s', async (_, text) => {
    expect((await ask(await indexOf(documents), { text, filter: public_ })).corrected).toBeUndefined()
  })

  it.each([
    ['a doubled letter that its form does not double', 'streamming', 'streaming'],
    ['an ending after too few letters to be a form of', 'rodes', 'rides'],
  ])('is corrected where it has %s', async (_, from, to) => {
    const texts = [
      'The stream and streaming of films',
      'A rod with rides',
      'A company',
      ...Array(20).fill('com'),
    ]
    const index = await indexOf(
      texts.map((description, at) => documentOf({ id: `${at}`, name: `Name ${at}`, description })),
    )
    expect((await ask(index, { text: from, filter: public_ })).corrected).toEqual([{ from, to }])
  })

  it('is corrected to a word that is twice as near as the one whose stem it seems to have', async () => {
    const texts = ['Recipes for dinner', 'Mails to recipients']
    const index = await indexOf(
      texts.map((description, at) => documentOf({ id: `${at}`, name: `Name ${at}`, description })),
    )
    const { corrected } = await ask(index, { text: 'recipies', filter: public_ })
    expect(corrected).toEqual([{ from: 'recipies', to: 'recipes' }])
  })

  it('is searched for as it is written if the caller asks for the exact words', async () => {
    const found = await ask(await indexOf(documents), { text: 'forcast', exact: true, filter: public_ })
    expect(found).toMatchObject({ total: 0 })
    expect(found).not.toHaveProperty('corrected')
  })

  it('is no exact name: a name is never corrected', async () => {
    const index = await indexOf([...documents, documentOf({ id: 'n', name: 'Forcast Notoin' })])
    expect(await ask(index, { text: 'forcast notoin', filter: public_ })).not.toHaveProperty('corrected')
  })

  it('is corrected to words of listed entries only, and by nobody for owners of other words', async () => {
    const index = await indexOf(documents)
    expect(await ask(index, { text: 'zeppelim', filter: public_ })).not.toHaveProperty('corrected')
    expect(await ask(index, { text: 'forcast', filter: { owner: 'ann' } })).not.toHaveProperty('corrected')
    await index.apply([{ id: 'draft', document: { ...documents[5]!, state: 'ACTIVE' } }], 2)
    expect((await ask(index, { text: 'zeppelim', filter: public_ })).corrected).toEqual([
      { from: 'zeppelim', to: 'zeppelin' },
    ])
    await index.apply([{ id: 'draft', document: null }], 3)
    expect(await ask(index, { text: 'zeppelim', filter: public_ })).not.toHaveProperty('corrected')
  })

  it('is corrected alike by an index that was saved and restored', async () => {
    await using folder = await temporaryFolder()
    await using saved = await throughFiles(folder.path, await indexOf(documents))
    const again = await restoredIndex(saved)
    const corrected = [{ from: 'forcast', to: 'forecast' }]
    expect((await ask(again, { text: 'forcast', filter: public_ })).corrected).toEqual(corrected)
    await again.apply([{ id: 'sky', document: null }], 2)
    expect(await ask(again, { text: 'forcast', filter: public_ })).not.toHaveProperty('corrected')
  })

  it('of letters that are no words is left as it is', async () => {
    const index = await withModel(documents)
    for (const text of ['zzzqqq xyzzy', 'asdfgh', 'qwxzkj weather'])
      expect(await ask(index, { text, filter: public_ })).not.toHaveProperty('corrected')
  })

  it('leaves words that the model knows, although no entry has them', async () => {
    const index = await withModel(documents)
    // Without the model, "nation" would be "notion".
    expect(await ask(index, { text: 'nation building', filter: public_ })).not.toHaveProperty('corrected')
    expect((await ask(await indexOf(documents), { text: 'nation', filter: public_ })).corrected).toHaveLength(
      1,
    )
  })

  it('is corrected to the word that is closer to the rest of the query in meaning', async () => {
    const index = await withModel([
      documentOf({ id: 'a', name: 'A', description: 'plane' }),
      documentOf({ id: 'b', name: 'B', description: 'plate' }),
    ])
    const of = async (text: string) => (await ask(index, { text, filter: public_ })).corrected?.[0]?.to
    expect(await of('airport pilot plaje')).toBe('plane')
    expect(await of('dinner kitchen plaje')).toBe('plate')
  })

  it('of one word is no stop word, which would find nothing', async () => {
    const description =
      'Says whether the weather stays, and whether a coat is needed, whether or not one goes out'
    const others = ['a', 'b', 'c', 'd'].map((id) => documentOf({ id, description: `Whether to ${id}` }))
    const index = await withModel([documentOf({ id: 'sky', description }), ...others])
    const { corrected } = await ask(index, { text: 'wheather', filter: public_ })
    expect(corrected).toEqual([{ from: 'wheather', to: 'weather' }])
  })

  it('of many misspelt words has eight corrected', async () => {
    const index = await indexOf(documents)
    const text = Array.from({ length: 100 }, () => 'forcast').join(' ')
    expect((await ask(index, { text, filter: public_ })).corrected).toHaveLength(8)
  })
})

describe('the cost of errors', () => {
  it('is lower for errors that people make', () => {
    const cost = (written: string, meant: string) => editCost(written, meant, 3)
    expect(cost('weather', 'weather')).toBe(0)
    expect(cost('weahther', 'weather')).toBeCloseTo(0.9)
    expect(cost('adress', 'address')).toBeCloseTo(0.5)
    expect(cost('recieve', 'receive')).toBeCloseTo(0.7)
    expect(cost('definately', 'definitely')).toBeCloseTo(0.7)
    expect(cost('wratger', 'weather')).toBeGreaterThan(cost('weatger', 'weather'))
    expect(cost('translte', 'frnch')).toBe(Number.POSITIVE_INFINITY)
  })

  it('is no lower than their number says', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é'), minLength: 1, maxLength: 30 })
    void fc.assert(
      fc.property(word, word, (written, meant) => {
        const cost = editCost(written, meant, Number.MAX_VALUE)
        expect(editCounter(written)(meant) * leastCost).toBeLessThanOrEqual(cost + 1e-9)
      }),
      { numRuns: 500 },
    )
  })

  it('counts letters that are missing, added, exchanged or swapped', () => {
    expect(editCounter('weather')('weather')).toBe(0)
    expect(editCounter('wetaher')('weather')).toBe(1)
    expect(editCounter('wxathers')('weather')).toBe(2)
    expect(editCounter('a'.repeat(30))('b')).toBe(30)
  })
})

describe('a list of words', () => {
  it('forgets a word with its last document, and reuses its place', () => {
    const list = new WordList()
    const place = list.add('weather')!
    list.add('weather')
    list.count(place, 1)
    list.remove(place)
    expect(list.near('wether', 1).map(({ word }) => word)).toEqual(['weather'])
    list.count(place, -1)
    list.remove(place)
    expect(list.near('wether', 1)).toEqual([])
    expect(list.add('feather')).toBe(place)
    list.count(place, 1)
    expect(list.near('fether', 1).map(({ word }) => word)).toEqual(['feather'])
  })

  it('holds at most 200,000 words', () => {
    const list = new WordList()
    const letters = 'abcdefghijklmnopqrstuvwxyz'
    const wordOf = (at: number): string =>
      at < 26 ? `${letters[at]}xx` : wordOf(Math.floor(at / 26) - 1) + letters[at % 26]
    for (let at = 0; at < 200_000; at++) list.add(wordOf(at))
    expect(list.add('another')).toBeUndefined()
    expect(list.add(wordOf(7))).toBe(7)
  })
})

describe('a generator of misspellings', () => {
  const text = Array.from({ length: 200 }, () => 'receive the weather').join(' ')
  const differing = (other: string) => {
    const words = text.split(' ')
    return other.split(' ').filter((word, at) => word !== words[at])
  }

  it('changes 30 % of the long words by one letter, the same ones in each run', () => {
    const misspeller = createMisspeller('edits')
    const other = misspeller.misspell(text)
    expect(differing(other).length).toBeGreaterThan(100)
    expect(misspeller.share()).toBeCloseTo(0.3, 2)
    expect(createMisspeller('edits').misspell(text)).toBe(other)
  })

  it('takes the misspellings of a list', async () => {
    await using folder = await temporaryFolder()
    const { writeFileSync } = await import('node:fs')
    writeFileSync(`${folder.path}/list`, 'recieve->receive\nresieve->receive, recite,\nteh->the\n')
    const misspeller = createMisspeller(`${folder.path}/list`)
    expect(new Set(differing(misspeller.misspell(text)))).toEqual(new Set(['recieve', 'resieve']))
  })
})
