import { writeFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { staticModel, synonymsFile, vectorsWorker } from '../../src/app/assets.ts'
import { createStaticEmbedder } from '../../src/search/embedders/static/static-embedder.ts'
import { createMeaning } from '../../src/search/index/meaning.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { readQuery } from '../../src/search/query/query-terms.ts'
import { readSynonyms, type Synonyms } from '../../src/search/query/synonyms.ts'
import { createMemoryVectorStore } from '../../src/search/vectors/memory/memory-vector-store.ts'
import { temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { ask, documentOf } from './support/documents.ts'

const expand = (synonyms: Synonyms, text: string) => synonyms.expand(text, readQuery(text))
const builtIn = readSynonyms([synonymsFile])
const documents = [
  documentOf({ id: 'cluster', name: 'Cluster', description: 'Manages Kubernetes pods and deployments' }),
  documentOf({ id: 'grounds', name: 'Grounds', description: 'Documents about coffee, k8sx and gardens' }),
  documentOf({ id: 'scan', name: 'Scan', description: 'OCR of scanned letters' }),
]

async function indexOf() {
  const index = createMemoryIndex({ synonyms: builtIn })
  await index.apply(
    documents.map((document) => ({ id: document.id, document })),
    1,
  )
  return index
}

describe('a search for other words than an entry has', () => {
  it.each([
    ['k8s', 'cluster', 'kubernetes'],
    ['K8s pods', 'cluster', 'kubernetes'],
    ['optical character recognition', 'scan', 'ocr'],
    ['image to text', 'scan', 'ocr'],
  ])('"%s" finds what has the other words', async (text, id, term) => {
    const { hits } = await ask(await indexOf(), { text })
    expect(hits[0]).toMatchObject({ id, why: { terms: expect.arrayContaining([term]) } })
  })

  it('finds what writes two of its words as one', async () => {
    const index = await indexOf()
    const document = documentOf({ id: 'products', name: 'Products', description: 'Looks up barcodes' })
    await index.apply([{ id: document.id, document }], 2)
    const { hits } = await ask(index, { text: 'read a bar code' })
    expect(hits).toMatchObject([{ id: 'products', why: { terms: ['barcode'] } }])
  })

  it('does not join a word that only connects others to the next one', async () => {
    const index = await indexOf()
    const document = documentOf({ id: 'eraser', name: 'Eraser', description: 'Helps people to forget' })
    await index.apply([{ id: document.id, document }], 2)
    const { hits } = await ask(index, { text: 'documents for get requests' })
    expect(hits.map(({ id }) => id)).toEqual(['grounds'])
  })

  it('keeps the single letters of a search with words that it joins', async () => {
    const index = createMemoryIndex({ synonyms: builtIn })
    const entries = [
      documentOf({ id: 'c', name: 'Compiler', description: 'Compiles C' }),
      documentOf({ id: 'barcode', name: 'Products', description: 'Looks up barcodes' }),
    ]
    await index.apply(
      entries.map((document) => ({ id: document.id, document })),
      1,
    )
    const { hits } = await ask(index, { text: 'a bar code in c' })
    expect(hits.map(({ id }) => id).sort()).toEqual(['barcode', 'c'])
  })

  it('finds the written word alone if the caller asks for the exact words', async () => {
    const { hits } = await ask(await indexOf(), { text: 'k8s', exact: true })
    expect(hits.map(({ id }) => id)).not.toContain('cluster')
  })

  it('excludes what has the other word, if the search does not ask for it', async () => {
    const factorsOf = async (text: string) => {
      const { hits } = await ask(await indexOf(), { text })
      return Object.fromEntries(hits.map(({ id, why }) => [id, why.scores.excluded]))
    }
    expect(await factorsOf('deployments -k8s')).toEqual({ cluster: 0.6 })
    expect(await factorsOf('kubernetes deployments but not k8s')).toEqual({ cluster: undefined })
  })

  it('ranks what has the written word before what has another', async () => {
    const index = await indexOf()
    await index.apply(
      [{ id: 'own', document: documentOf({ id: 'own', name: 'Own', description: 'k8s pods' }) }],
      2,
    )
    expect((await ask(index, { text: 'k8s' })).hits.map(({ id }) => id)).toEqual(['own', 'cluster'])
  })

  it('is searched for by meaning in the other words, since the model does not know it', async () => {
    const embedder = await createStaticEmbedder(staticModel)
    const vectors = createMemoryVectorStore({ dimensions: embedder.dimensions, worker: vectorsWorker })
    const document = documentOf({
      id: 'speak',
      name: 'Speak',
      description: 'Reads texts aloud with a natural voice',
    })
    const [embedding] = await embedder.embed([document.description], 'document', new AbortController().signal)
    await vectors.apply([{ id: 'speak', entry: { attributes: document, vectors: [embedding!.vector] } }], 1)
    const meaning = createMeaning(embedder, vectors)
    const similarity = async (synonyms?: typeof builtIn) => {
      const index = createMemoryIndex({ meaning: () => meaning, ...(synonyms && { synonyms }) })
      await index.apply([{ id: 'speak', document }], 1)
      return (await ask(index, { text: 'tts' })).hits[0]?.why.similarity ?? 0
    }
    expect(await similarity(builtIn)).toBeGreaterThan((await similarity()) + 0.1)
  })
})

describe('a list of synonyms', () => {
  it('has some 400 terms, each of one word, and none twice', async () => {
    const { readFileSync } = await import('node:fs')
    const terms = readFileSync(synonymsFile, 'utf8').match(/^[^#\s]+(?= = )/gm) ?? []
    expect(terms.length).toBeGreaterThan(400)
    expect(new Set(terms).size).toBe(terms.length)
  })

  it('adds only what a query lacks, at most 8 texts', () => {
    expect(expand(builtIn, 'k8s and Kubernetes')).toEqual([])
    expect(expand(builtIn, 'send a letter')).toEqual([])
    expect(expand(builtIn, 'wi-fi')).toEqual(expand(builtIn, 'wifi'))
    expect(expand(builtIn, 'edit .psd files')).toEqual(['photoshop'])
    expect(expand(builtIn, 'ocr tts crm ehr rag seo k8s iot vpn dns')).toHaveLength(8)
  })

  it('is extended, replaced and shortened by a file of the operator', async () => {
    await using folder = await temporaryFolder()
    const path = `${folder.path}/own.txt`
    writeFileSync(path, '# ours\nzap = lightning bolt, Spark\nocr =\ncrm = customer list\n')
    const own = readSynonyms([synonymsFile, path])
    expect(expand(own, 'zap')).toEqual(['lightning bolt', 'spark'])
    expect(expand(own, 'a lightning bolt')).toEqual(['zap'])
    expect(expand(own, 'ocr')).toEqual([])
    expect(expand(own, 'crm')).toEqual(['customer list'])
  })

  it.each([
    ['no equals sign', 'k8s kubernetes', /number 1/],
    ['a term of several words', '# ours\na b = c', /number 2/],
  ])('with %s is refused with the number of the line', async (_, text, message) => {
    await using folder = await temporaryFolder()
    const path = `${folder.path}/own.txt`
    writeFileSync(path, text)
    expect(() => readSynonyms([path])).toThrow(message)
    expect(() => readSynonyms([`${folder.path}/none`])).toThrow(Failure)
  })
})

test('a gateway reads the list of its operator, and does not start with a wrong one', async () => {
  await using folder = await temporaryFolder()
  const path = `${folder.path}/own.txt`
  writeFileSync(path, 'qqlookup = encyclopedia\n')
  await using home = await startGateway({ DRAGOMAN_SYNONYMS: path })
  const { json } = await home.request('GET', '/public/agents?q=qqlookup')
  expect(json.agents[0].package_name).toBe('svc.utility.wiki')
  await expect(startGateway({ DRAGOMAN_SYNONYMS: `${folder.path}/none` })).rejects.toThrow(/cannot be read/)
}, 30_000)
