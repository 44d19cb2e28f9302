import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EntryDetail } from '../../schemas/card.ts'
import {
  entryFields,
  filters,
  indexedFields,
  listedFields,
  mapFields,
  publishedFields,
} from '../../schemas/entry-fields.ts'
import type { Json } from '../../schemas/json.ts'
import type { AgentPage } from '../../schemas/search.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import type { Filter } from '../../src/search/search-index.ts'
import { conditionsOf, isList } from '../../src/search/vectors/attributes.ts'
import { run, temporaryFolder } from '../support/command.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { postgresFolder, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { publication } from '../support/registry.ts'
import { restTransport } from '../support/rest-transport.ts'
import { openTransports, type TestTransport } from '../support/transports.ts'

/** Values of one agent in every field that lists narrow by: each is found by each of them, and no other agent is. */
const valuesOf = (word: string) =>
  mapFields(indexedFields, (field) =>
    filters[field].compare === 'every' ? [`${word}-${field}`, `${word}-more`] : `${word}-${field}`,
  )

const stores = ['SQLite, vectors in memory', 'SQLite, vectors in LanceDB', 'PostgreSQL'] as const

describe.each(stores)('a filterable field over %s', (store) => {
  const isPostgres = store === 'PostgreSQL'
  let postgres: TestPostgres | undefined
  let home: TestGateway
  let transports: TestTransport[]

  beforeAll(async () => {
    if (isPostgres && !postgresFolder) return
    if (isPostgres) postgres = await startPostgres()
    home = await startGateway({
      ...(postgres && { DATABASE_URL: await postgres.createDatabase() }),
      ...(store === 'SQLite, vectors in LanceDB' && { DRAGOMAN_VECTORS: 'lance' }),
    })
    transports = [...openTransports(home), restTransport(home)]
    const token = await home.token('ada')
    for (const word of ['first', 'second']) {
      const body = publication(`com.example.${word}`, { ...valuesOf(word), description: 'Folds paper.' })
      const { json } = await home.request('POST', '/api/agents/publish', { token, body })
      expect(json).toMatchObject(valuesOf(word))
      await home.request('POST', `/api/agents/${json.id}/go-live`, { token })
    }
  }, 60_000)
  afterAll(async () => {
    for (const transport of transports ?? []) await transport[Symbol.asyncDispose]()
    await home?.[Symbol.asyncDispose]()
    await postgres?.[Symbol.asyncDispose]()
  })

  const rows = indexedFields.map((field) => [field] as const)
  test.skipIf(isPostgres && !postgresFolder).each(rows)(
    '%s narrows lists and searches at every transport, and is counted',
    async (field) => {
      const { name, facet, compare } = filters[field]
      const value = `FIRST-${field}`
      const expected = { [name]: compare === 'every' ? [value] : value }
      for (const params of [{ filters: expected }, { filters: expected, query: 'fold paper' }]) {
        for (const transport of transports) {
          const envelope = {
            to: 'svc.registry',
            action: 'search_agents',
            params: { ...params, facets: true },
          }
          const outcome = await transport.call(envelope as Record<string, Json>, undefined)
          const output = ('output' in outcome ? outcome.output : outcome) as unknown as AgentPage
          expect([transport.name, output.agents?.map((agent) => agent.package_name)]).toEqual([
            transport.name,
            ['com.example.first'],
          ])
          expect(output.agents[0]?.[field]).toEqual(valuesOf('first')[field])
          if (facet)
            expect(output.facets?.[facet as keyof typeof output.facets]).toHaveProperty(`first-${field}`, 1)
        }
      }
      const none = await home.request('GET', `/public/agents?${name}=nothing-has-it`)
      expect([none.status, none.json.total]).toEqual([200, 0])
    },
  )

  test.skipIf(isPostgres && !postgresFolder)(
    'license is kept as it was stated, through versions and updates',
    async () => {
      const token = await home.token('ada')
      const body = publication('com.example.licensed', { license: 'Apache-2.0', version: '1.0.0' })
      const { json } = await home.request('POST', '/api/agents/publish', { token, body })
      await home.request('POST', `/api/agents/${json.id}/go-live`, { token })
      await home.request('PUT', `/api/agents/${json.id}`, {
        token,
        body: { license: 'BSL-1.1', version: '2.0.0' },
      })
      const now = await home.request('GET', '/public/agents/com.example.licensed')
      expect(now.json.license).toBe('BSL-1.1')
      const params = { package_name: 'com.example.licensed', version: '1.0.0' }
      const before = await home.request('POST', '/a2a/message', {
        body: { to: 'svc.registry', action: 'resolve_package', params },
      })
      expect(before.json.license).toBe('Apache-2.0')
      const refused = await home.request('PUT', `/api/agents/${json.id}`, { token, body: { license: ' ' } })
      expect([refused.status, refused.json.errors[0].pointer]).toEqual([400, '/license'])
    },
  )
})

test('every field of a publication is shown, also one that no list filters by', async () => {
  await using home = await startGateway()
  const { json } = await home.request('GET', '/public/agents/svc.registry')
  expect(Object.keys(json)).toEqual(expect.arrayContaining([...publishedFields]))
  expect(Object.keys(EntryDetail.shape)).toEqual(expect.arrayContaining([...publishedFields]))
})

test('the command line has an option for each filter that names one', async () => {
  await using folder = await temporaryFolder()
  const { stdout } = await run(['search', '--help'], { DRAGOMAN_DATA: folder.path })
  for (const { option } of Object.values(filters)) if (option) expect(stdout).toContain(option[0])
})

test('a filter with characters that no publication may contain matches no entry, without an error', async () => {
  await using home = await startGateway()
  const { status, json } = await home.request(
    'GET',
    `/public/agents?license=${encodeURIComponent('\u0003\u0096MIT')}`,
  )
  expect([status, json.agents]).toEqual([200, []])
})

test('license is imported from both lists, and `unknown` is none', async () => {
  await using home = await startGateway()
  const token = await home.token('root', { scopes: ['admin'] })
  const server = (packageName: string, license: string) =>
    JSON.stringify({
      packageName,
      name: 'S',
      description: 'Serves.',
      url: 'https://example.com/s',
      runtime: 'node',
      license,
    })
  const card = JSON.stringify({
    name: 'Card',
    description: 'A card.',
    url: 'https://card.example/a2a',
    license: 'MIT',
  })
  const params = { lines: [server('free', 'mit'), server('unclear', 'unknown'), card], first_line: 1 }
  await home.request('POST', '/a2a/message', {
    token,
    body: { to: 'svc.registry', action: 'import_entries', params },
  })
  const { json } = await home.request('GET', '/public/agents?license=MIT&sort=name&facets=true')
  expect(json.agents.map((agent: { license: string }) => agent.license).sort()).toEqual(['MIT', 'mit'])
  expect(json.facets.licenses).toEqual({ mit: 2 })
  expect((await home.request('GET', '/public/agents/npm.unclear')).json.license).toBeNull()
})

test('an index refuses a filter that it does not know', async () => {
  await using index = createMemoryIndex()
  const unknown = { colour: 'red' } as unknown as Filter
  const { signal } = new AbortController()
  await expect(index.search({ filter: unknown, limit: 1, sort: 'newest' }, signal)).rejects.toThrow('colour')
})

test('the documentation of search and of REST names every filter and every count', async () => {
  const [guide, reference] = await Promise.all(
    ['search.md', 'reference/http.md'].map((name) =>
      readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8'),
    ),
  )
  const row = reference!.split('\n').find((line) => line.startsWith('| `GET /public/agents`'))
  for (const { name, facet } of Object.values(filters)) {
    expect(guide).toContain(`\`${name}\``)
    expect(row).toMatch(new RegExp(`\\b${name}\\b`))
    if (facet) expect(guide).toContain(`\`${facet}\``)
  }
})

test('every field that lists show or filter by has a value where its publisher states none', () => {
  for (const field of [...listedFields, ...indexedFields])
    expect(entryFields[field]).toHaveProperty('initial')
})

test('the vector stores filter by each field of lists, and compare it as the table says', () => {
  for (const field of indexedFields) {
    const isEvery = filters[field].compare === 'every'
    expect([field, isList(field)]).toEqual([field, isEvery])
    const filter = { [field]: isEvery ? ['Mixed'] : 'Mixed' }
    expect(conditionsOf(filter)).toEqual([[field, 'mixed']])
  }
})
