import fc from 'fast-check'
import {
  attributeFields,
  filters,
  indexedFields,
  initialValues,
  mapFields,
  pickFields,
} from '../../../schemas/entry-fields.ts'
import { isLive } from '../../../schemas/liveness.ts'
import type { Sections } from '../../../src/common/sections.ts'
import { createMemoryIndex, type MemoryIndex } from '../../../src/search/index/memory-index.ts'
import type { Hits, IndexQuery, SearchDocument, SearchIndex } from '../../../src/search/search-index.ts'

const { signal } = new AbortController()

/** A document with defaults for the fields that a test does not set. */
export function documentOf(fields: Partial<SearchDocument> & { id: string }): SearchDocument {
  const { liveness = 'unknown' } = fields
  return {
    package_name: `com.example.${fields.id}`,
    name: 'Nameless',
    description: '',
    ...mapFields(attributeFields, () => null),
    ...pickFields(indexedFields, initialValues),
    state: 'ACTIVE',
    owner: null,
    created_at: '2026-01-01T00:00:00Z',
    capabilities: [],
    liveness,
    live: isLive(liveness),
    callable: 'open',
    publisher: null,
    verification_level: 'unclaimed',
    deprecated: false,
    imitates_name: false,
    source: null,
    agent_keys: [],
    ...fields,
  }
}

/** A new index with what another one has saved. */
export async function restoredIndex(saved: Sections): Promise<MemoryIndex> {
  const index = createMemoryIndex()
  await index.restore(saved)
  return index
}

export function indexOf(documents: readonly SearchDocument[]): Promise<MemoryIndex> {
  return fill(createMemoryIndex(), documents)
}

/** An empty index with these documents. */
export async function fill<Index extends SearchIndex>(
  index: Index,
  documents: readonly SearchDocument[],
): Promise<Index> {
  const changes = documents.map((document) => ({ id: document.id, document }))
  await index.apply(changes, 1)
  return index
}

export function ask(index: SearchIndex, query: Partial<IndexQuery> = {}): Promise<Hits> {
  return index.search({ filter: {}, limit: 100, sort: 'relevance', ...query }, signal)
}

/** All pages of a query, each continued from the last hit of the one before; at most 100 entries. */
export async function walk(index: SearchIndex, query: Partial<IndexQuery>, limit: number): Promise<string[]> {
  const ids: string[] = []
  for (let page = await ask(index, { ...query, limit }); page.hits.length > 0 && ids.length <= 100; ) {
    ids.push(...page.hits.map((hit) => hit.id))
    const after = page.hits.at(-1)!.position
    page = await ask(index, { ...query, limit, after })
  }
  return ids
}

const vocabulary = [
  'weather',
  'forecasts',
  'send',
  'mail',
  'getPrice',
  'gpt4o',
  'the',
  'tool',
  '火车票',
  'café',
]
const phrase = fc.array(fc.constantFrom(...vocabulary), { maxLength: 4 }).map((words) => words.join(' '))
const slug = fc.constantFrom('red', 'green', 'blue')

/** Few words and values, so that scores and keys are often equal. */
export const someDocument: fc.Arbitrary<SearchDocument> = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
    package_name: fc.constantFrom('com.example.weather', 'npm.send-mail', 'mcp.server'),
    name: phrase,
    description: phrase,
    ...mapFields(indexedFields, (name) =>
      filters[name].compare === 'every' ? fc.uniqueArray(slug) : fc.option(slug),
    ),
    state: fc.constantFrom('STAGE', 'ACTIVE'),
    owner: fc.option(fc.constantFrom('ann', 'bob')),
    created_at: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:00.500Z', '2026-02-01T00:00:00Z'),
    capabilities: fc.array(fc.record({ name: phrase, description: phrase }), { maxLength: 3 }),
  })
  .map((fields) => documentOf(fields as Parameters<typeof documentOf>[0]))

export const someDocuments: fc.Arbitrary<SearchDocument[]> = fc.uniqueArray(someDocument, {
  selector: ({ id }) => id,
})

const anyCase = fc.constantFrom('red', 'Green', 'BLUE')

export const someQuery = fc.record(
  {
    text: phrase,
    sort: fc.constantFrom('relevance', 'newest', 'name'),
    facets: fc.boolean(),
    filter: fc.record(
      {
        state: fc.constantFrom('STAGE', 'ACTIVE'),
        owner: fc.constantFrom('ann', 'bob', 'nobody'),
        ...mapFields(indexedFields, (name) =>
          filters[name].compare === 'every' ? fc.array(anyCase, { maxLength: 2 }) : anyCase,
        ),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<IndexQuery>>
