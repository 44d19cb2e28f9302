import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ArdItem, type ArdLimits, readArd } from '../../../src/registry/mirror/sources/ard.ts'
import { createArdSource } from '../../../src/registry/mirror/sources/ard-source.ts'
import type { ReadSource } from '../../../src/registry/mirror/sources/read-source.ts'
import { startGateway } from '../../support/gateway.ts'
import { hostedNames } from '../../support/hosted.ts'
import { list } from '../../support/listed.ts'
import { operate, runToEnd } from './mirror-run.ts'

const site = 'https://site.example'
const { signal } = new AbortController()
const [mcp, a2a] = ['application/mcp-server-card+json', 'application/a2a-agent-card+json']

const entry = (name: string, members: object = {}) => ({
  identifier: `urn:air:site.example:${name}`,
  displayName: name,
  type: mcp,
  url: `${site}/${name}.json`,
  ...members,
})
const catalog = (name: string, members: object) => ({
  ...entry(name, { type: 'application/ai-catalog+json' }),
  url: undefined,
  ...members,
})
const registry = (url: string) => entry('registry', { type: 'application/ai-registry+json', url })

/** A site that answers these documents; the addresses that were asked for. */
function answering(documents: Readonly<Record<string, unknown>>): { read: ReadSource; addresses: string[] } {
  const addresses: string[] = []
  return {
    addresses,
    async read(url) {
      addresses.push(url.replace(site, ''))
      const document = documents[url.replace(site, '')]
      const text = typeof document === 'string' ? document : JSON.stringify(document ?? null)
      return {
        status: document === undefined ? 404 : 200,
        body: new TextEncoder().encode(text),
        time: undefined,
      }
    },
  }
}

async function collect<Item>(source: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of source) items.push(item)
  return items
}

async function itemsOf(read: ReadSource, url = site, limits?: ArdLimits): Promise<ArdItem[]> {
  return await collect(readArd({ read, url, signal, ...(limits && { limits }) }))
}

const namesOf = (items: readonly { key: string }[]) => items.map(({ key }) => key.split(':').at(-1))

describe('an ARD source', () => {
  test.each([
    ['the address of a catalog', `${site}/lists/ard.json`, { '/lists/ard.json': { entries: [entry('a')] } }],
    ['a site', site, { '/.well-known/ard.json': { entries: [entry('a')] } }],
    [
      'a site with the older catalog',
      `${site}/`,
      { '/.well-known/ai-catalog.json': { entries: [entry('a')] } },
    ],
    [
      'a site that has a page at its root',
      site,
      { '': '<html>', '/.well-known/ard.json': { entries: [entry('a')] } },
    ],
    ['the base of an API', `${site}/ard`, { '/ard/agents?pageSize=100': { items: [entry('a')] } }],
    ['an API that answers results', `${site}/v1`, { '/v1/agents?pageSize=100': { results: [entry('a')] } }],
  ])('is found at %s', async (_, url, documents) => {
    expect(namesOf(await itemsOf(answering(documents).read, url))).toEqual(['a'])
  })

  test.each([{}, { '/.well-known/ard.json': '<html>' }, { '/.well-known/ai-catalog.json': { entries: {} } }])(
    'with nothing but %j is refused',
    async (documents) => {
      await expect(itemsOf(answering(documents).read)).rejects.toMatchObject({ code: 'upstream_invalid' })
    },
  )

  test('follows nested catalogs to the depth of four, inline ones too', async () => {
    const level = (depth: number): object => ({
      entries: [entry(`at-${depth}`), catalog(`c${depth}`, { url: `${site}/${depth + 1}` })],
    })
    const documents = Object.fromEntries([1, 2, 3, 4, 5, 6].map((depth) => [`/${depth}`, level(depth)]))
    const inline = (depth: number): object => ({
      entries: [
        entry(`in-${depth}`),
        ...(depth < 7 ? [catalog(`i${depth}`, { data: inline(depth + 1) })] : []),
      ],
    })
    const first = {
      entries: [entry('at-0'), catalog('c', { url: '/1' }), catalog('i', { data: inline(1) })],
    }
    const items = await itemsOf(answering({ ...documents, '/.well-known/ard.json': first }).read)
    const expected = [
      'at-0',
      ...[1, 2, 3, 4].map((depth) => `at-${depth}`),
      ...[1, 2, 3, 4].map((depth) => `in-${depth}`),
    ]
    expect(namesOf(items)).toEqual(expected)
    expect(items.find(({ key }) => key.endsWith('at-3'))?.base).toBe(`${site}/3`)
  })

  test('reads a catalog once, whatever catalogs name it, and an entry once', async () => {
    const { read, addresses } = answering({
      '/.well-known/ard.json': {
        entries: [
          catalog('again', { url: '/.well-known/ard.json' }),
          catalog('x', { url: '/x' }),
          catalog('x', { url: '/x#part' }),
          entry('a'),
        ],
      },
      '/x': {
        entries: [
          catalog('home', { url: '/.well-known/ard.json' }),
          catalog('x', { url: '/x' }),
          entry('a'),
          entry('b'),
        ],
      },
    })
    expect(namesOf(await itemsOf(read))).toEqual(['a', 'b'])
    expect(addresses.filter((address) => /x|ard\.json/.test(address))).toEqual([
      '/.well-known/ard.json',
      '/x',
    ])
  })

  test('reads all pages of the registry on its site, and of no other', async () => {
    const { read, addresses } = answering({
      '/.well-known/ard.json': {
        entries: [registry(`${site}/ard/search`), registry('https://other.example/ard'), entry('a')],
      },
      '/ard/agents?pageSize=100': { items: [entry('a'), entry('b')], pageToken: 'p2' },
      '/ard/agents?pageSize=100&pageToken=p2': { items: [entry('c')], pageToken: null },
    })
    expect(namesOf(await itemsOf(read))).toEqual(['a', 'b', 'c'])
    expect(addresses.filter((address) => address.includes('other'))).toEqual([])
  })

  test('does without the list of a registry that has none, and without a catalog that is gone', async () => {
    const entries = [registry(`${site}/ard`), catalog('x', { url: '/gone' }), catalog('y', {}), entry('a')]
    expect(namesOf(await itemsOf(answering({ '/.well-known/ard.json': { entries } }).read))).toEqual(['a'])
  })

  test.each<[string, Record<string, unknown>, string]>([
    [
      'repeats its pages',
      { '/ard/agents?pageSize=100&pageToken=p': { items: [], pageToken: 'p' } },
      'upstream_invalid',
    ],
    ['ends its pages with HTML', { '/ard/agents?pageSize=100&pageToken=p': '<html>' }, 'upstream_invalid'],
    ['loses a page', {}, 'upstream_invalid'],
  ])('whose registry %s fails: what is missing is not removed', async (_, documents, code) => {
    const { read } = answering({
      '/.well-known/ard.json': { entries: [registry(`${site}/ard`)] },
      '/ard/agents?pageSize=100': { items: [entry('a')], pageToken: 'p' },
      ...documents,
    })
    await expect(itemsOf(read)).rejects.toMatchObject({ code })
  })

  test('fails if a nested catalog cannot be read', async () => {
    const entries = [entry('a'), catalog('x', { url: '/x' })]
    for (const x of ['<html>', {}, { entries: 'none' }]) {
      const { read } = answering({ '/.well-known/ard.json': { entries }, '/x': x })
      await expect(itemsOf(read)).rejects.toMatchObject({ code: 'upstream_invalid' })
    }
  })

  test.each([
    ['entries', { max_entries: 3, max_documents: 100, max_bytes: 1e6 }],
    ['documents', { max_entries: 100, max_documents: 5, max_bytes: 1e6 }],
    ['bytes', { max_entries: 100, max_documents: 100, max_bytes: 400 }],
  ])('with more %s than allowed fails', async (_, limits) => {
    const { read } = answering({
      '/.well-known/ard.json': {
        entries: [entry('a'), entry('b'), ...[1, 2, 3].map((x) => catalog(`${x}`, { url: `/${x}` }))],
      },
      '/1': { entries: [entry('c')] },
      '/2': { entries: [entry('d')] },
      '/3': { entries: [] },
    })
    await expect(itemsOf(read, site, limits)).rejects.toMatchObject({ code: 'too_large' })
    expect(await itemsOf(read)).toHaveLength(4)
  })

  test('ends when its reader is told to', async () => {
    const stop = new AbortController()
    const { read } = answering({
      '/.well-known/ard.json': { entries: [entry('a'), catalog('x', { url: '/x' })] },
    })
    const reading = readArd({ read, url: site, signal: stop.signal })
    expect((await reading.next()).value).toMatchObject({ key: 'urn:air:site.example:a' })
    stop.abort(new Error('stopped'))
    await expect(reading.next()).rejects.toThrow('stopped')
  })

  test('yields what is in a hostile catalog as it is, and no more', async () => {
    const deep = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`)
    const entries = [
      null,
      4,
      'x',
      [],
      {},
      { identifier: 7 },
      entry('a', { metadata: deep }),
      catalog('x', { url: 'javascript:1' }),
    ]
    const items = await itemsOf(answering({ '/.well-known/ard.json': { entries } }).read)
    expect(items.map(({ key }) => key)).toEqual(['unnamed', 'unnamed', 'urn:air:site.example:a'])
  })
})

describe('the agents of an ARD source', () => {
  async function pageOf(...entries: unknown[]) {
    const source = createArdSource(
      site,
      answering({ '/.well-known/ard.json': { entries } }).read,
      'own.example',
    )
    const pages = await collect(source.pages({ cursor: null, since: null, latest: false, signal }))
    expect(pages.at(-1)?.next).toBeNull()
    return {
      pages,
      facts: pages.flatMap(({ items }) =>
        items.flatMap((item) => (item.kind === 'agent' ? [item.facts] : [])),
      ),
      rejected: pages.flatMap(({ rejected }) => rejected),
    }
  }

  test('have what their entries state', async () => {
    const { facts } = await pageOf(
      entry('tools:weather', {
        description: 'Weather.',
        tags: ['Sea', 4],
        version: '2.0.0',
        capabilities: ['forecast', 7],
        metadata: { license: 'MIT', category: 'Public Data' },
        data: undefined,
      }),
      entry('agent', {
        type: a2a,
        url: undefined,
        data: {
          name: 'Agent',
          description: 'Answers.',
          url: 'https://agent.site.example/a2a',
          protocolVersion: '0.3.0',
          skills: [{ id: 's', name: 'Skill', description: 'Does it.' }],
        },
      }),
      entry('server', {
        url: undefined,
        data: { remotes: [{ type: 'sse', url: 'https://s.site.example/' }, 4] },
      }),
      { ...entry('x'), identifier: 'urn:air:site.example:example.site.own' },
    )
    expect(facts).toMatchObject([
      {
        package_name: 'example.site/tools-weather',
        name: 'tools:weather',
        manifest_url: `${site}/tools:weather.json`,
        tags: ['mcp', 'sea'],
        version: '2.0.0',
        capabilities: [{ name: 'forecast' }],
        license: 'MIT',
        category: 'public-data',
        endpoints: [],
      },
      {
        package_name: 'example.site/agent',
        endpoints: [{ protocol: 'a2a', url: 'https://agent.site.example/a2a' }],
        capabilities: [{ name: 'Skill' }],
        card: { protocolVersion: '0.3.0' },
      },
      { endpoints: [{ protocol: 'mcp', url: 'https://s.site.example/', binding: 'sse' }] },
      { package_name: 'example.site.own' },
    ])
  })

  test('of catalogs that are older, or have other identifiers, are below the site', async () => {
    const { facts } = await pageOf(
      { ...entry('a'), identifier: 'urn:site:mcp:a/b', type: undefined, mediaType: mcp },
      entry('b', { identifier: 'urn:air:localhost:b' }),
    )
    expect(facts.map(({ package_name }) => package_name)).toEqual([
      'example.site/urn-site-mcp-a-b',
      'example.site/urn-air-localhost-b',
    ])
  })

  test.each<[string, object]>([
    ['no name', { displayName: ' ' }],
    ['no type', { type: undefined }],
    ['a type that is no agent', { type: 'application/ai-skill' }],
    ['no identifier', { identifier: undefined }],
    ['an identifier of this registry', { identifier: 'urn:air:own.example:com.example.a' }],
    ['an identifier without a letter', { identifier: '::' }],
    ['a reserved name', { identifier: 'urn:air:registry.svc:a' }],
    ['hidden characters', { description: 'Fine.\u202e' }],
    ['a name in two scripts', { displayName: 'Pаypal' }],
    ['an address of a script', { url: 'javascript:alert(1)' }],
    ['a card that is none', { type: a2a, data: { skills: [] } }],
    ['too deep a card', { data: JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`) }],
  ])('are refused with %s', async (_, members) => {
    const { facts, rejected } = await pageOf(entry('good'), entry('bad', members))
    expect(facts.map(({ name }) => name)).toEqual(['good'])
    expect(rejected).toEqual([{ key: expect.any(String), reason: expect.stringMatching(/\w{3}/) }])
  })

  test('come in pages of 100', async () => {
    const entries = Array.from({ length: 250 }, (_, index) => entry(`n${index}`))
    const { pages, facts } = await pageOf(...entries)
    expect(pages.map(({ items }) => items.length)).toEqual([100, 100, 50])
    expect(new Set(facts.map(({ package_name }) => package_name)).size).toBe(250)
  })
})

test('a mirror of another gateway by ARD lists its agents under their own names', async () => {
  await using far = await startGateway({ DRAGOMAN_BASE_URL: 'http://far.example' })
  const names = ['tide', 'wind']
  for (const name of names) {
    await list(far, {
      package_name: `com.example.${name}`,
      endpoints: [{ protocol: 'mcp', url: `https://${name}.example.com/mcp` }],
      capabilities: [{ name: 'read', description: `Reads the ${name}.` }],
    })
  }
  await using home = await startGateway({
    DRAGOMAN_ALLOW_ORIGINS: far.url,
    DRAGOMAN_FEDERATION: `${far.url}/ard`,
  })
  await operate(home.gateway, 'add_mirror', { source: `${far.url}/ard`, name: 'far', kind: 'ard' })
  const run = await runToEnd(home.gateway, 'far')
  const total = hostedNames.length + names.length
  expect(run).toMatchObject({ error: null, counts: { created: total } })
  const { json } = await home.request('GET', '/public/agents?q=reads+the+tide&limit=1')
  expect(json.agents[0]).toMatchObject({
    package_name: 'example.far/com.example.tide',
    verification_level: 'unclaimed',
    protocol: 'mcp',
    origin: { source: 'far', name: 'urn:air:far.example:com.example.tide' },
    manifest_url: 'http://far.example/mcp/agents/com.example.tide/server-card',
  })
  const identifier = 'urn:air:far.example:com.example.tide'
  const shown = await home.request('GET', `/ard/agents/${encodeURIComponent(identifier)}`)
  expect(shown.json).toMatchObject({
    identifier,
    metadata: { origin: { url: `${far.url}/ard`, name: identifier } },
  })
  const filter = { publisher: ['far.example'] }
  const found = await home.request('POST', '/ard/search', { body: { query: { text: 'tide', filter } } })
  expect(found.json.results[0].identifier).toBe(identifier)
  const federated = await home.request('POST', '/ard/search', { body: { query: { text: 'tide' } } })
  const tides = federated.json.results.filter(
    (result: { identifier: string }) => result.identifier === identifier,
  )
  expect(tides).toMatchObject([{ source: `${home.url}/ard` }])
  expect((await runToEnd(home.gateway, 'far')).counts).toMatchObject({ created: 0, unchanged: total })
})

const folder = resolve(import.meta.dirname, '../../../../shared/data/ard')
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.includes('ai-catalog')) : []

test.skipIf(files.length === 0)(
  'catalogs that people published are read whole, and refused with reasons',
  async () => {
    const counts: [number, number][] = []
    for (const file of files.sort()) {
      const document = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'))
      const { read } = answering({ '/.well-known/ai-catalog.json': document })
      expect(await itemsOf(read)).toHaveLength(document.entries.length)
      const source = createArdSource(site, read, 'own.example')
      const pages = await collect(source.pages({ cursor: null, since: null, latest: false, signal }))
      const rejected = pages.flatMap((page) => page.rejected)
      counts.push([pages.flatMap(({ items }) => items).length, rejected.length])
      for (const { reason } of rejected) expect(reason).toMatch(/is not that of an agent/)
    }
    expect(counts).toEqual([
      [1, 4],
      [0, 1],
      [6, 5],
      [0, 481],
    ])
  },
)
