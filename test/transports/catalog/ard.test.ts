import { afterAll, describe, expect, test } from 'vitest'
import { localPrincipal } from '../../../src/auth/authenticator.ts'
import { type Answer, startGateway } from '../../support/gateway.ts'
import { hostedNames } from '../../support/hosted.ts'
import { list } from '../../support/listed.ts'
import { verify } from '../../support/verified.ts'

const [mcp, a2a] = ['application/mcp-server-card+json', 'application/a2a-agent-card+json']

/** The pattern of the conformance test of ARD 0.91. */
const urn = /^urn:air:([a-zA-Z0-9.-]+)(?::([a-zA-Z0-9._:-]+))?:([a-zA-Z0-9._-]+)$/

const home = await startGateway({ DRAGOMAN_BASE_URL: 'https://registry.example' })
const server = (name: string, description: string, tool: string) =>
  list(home, {
    package_name: `com.example.${name}`,
    name,
    description,
    endpoints: [{ protocol: 'mcp', url: `https://${name}.example.com/mcp` }],
    capabilities: [{ name: tool, description }],
  } as Parameters<typeof list>[1])
await server('weather', 'Weather forecast tools for any city.', 'get_forecast')
await server('climate', 'Weather statistics and climate records.', 'get_climate')
await server('sail', 'Plans a sail trip by the weather and the tide.', 'plan_trip')
await list(home, {
  package_name: 'org.example/agent',
  endpoints: [{ protocol: 'a2a', url: 'https://agent.example.org/a2a' }],
  description: 'Talks about the weather.',
})
await verify(home, 'com.example.weather', 'example.com')
const capabilities = [{ name: 'forecast', description: 'Gives the weather.' }]
const stage = {
  package_name: 'com.example.staged',
  name: 'staged weather',
  description: 'Weather in STAGE.',
}
const token = await home.token('owner')
await home.request('POST', '/api/agents/publish', { token, body: stage })
await list(home, { package_name: 'com.example.banned', capabilities, description: 'Weather, suspended.' })
const admin = await home.token('root', { scopes: ['admin'] })
const suspend = { token: admin, body: { reason: 'Bad.' } }
await home.request('POST', '/api/agents/com.example.banned/suspend', suspend)
const id = await list(home, {
  package_name: 'com.example.gone',
  capabilities,
  description: 'Weather, deleted.',
})
await home.request('DELETE', `/api/agents/${id}`, { token })
afterAll(() => home[Symbol.asyncDispose]())

const search = (query: object, rest: object = {}) =>
  home.request('POST', '/ard/search', { body: { query, federation: 'none', ...rest } })
const lookUp = (identifier: string) => home.request('GET', `/ard/agents/${encodeURIComponent(identifier)}`)

type Item = Readonly<Record<string, unknown>> & { readonly identifier: string }
const identifiers = (items: readonly Item[]) => items.map(({ identifier }) => identifier)

/** The checks of an entry by the conformance test of ARD 0.91; the errors and warnings that it reports. */
function faultsOf(entry: Item): string[] {
  const { identifier, displayName, type, representativeQueries: queries, trustManifest } = entry
  const types = [mcp, a2a, 'application/ai-catalog+json', 'application/ai-registry+json']
  const checks: readonly [boolean, string][] = [
    [urn.test(identifier), 'identifier'],
    [typeof displayName === 'string' && displayName !== '', 'displayName'],
    [types.includes(String(type)), 'type'],
    ['url' in entry !== 'data' in entry, 'exactly one of url and data'],
    [Array.isArray(queries) && queries.length >= 2 && queries.length <= 5, 'two to five queries'],
    [Array.isArray(queries) && queries.every((query) => typeof query === 'string'), 'queries are texts'],
    [trustManifest === undefined || !!(trustManifest as { identity?: string }).identity, 'identity'],
  ]
  return checks.filter(([holds]) => !holds).map(([, name]) => `${identifier}: ${name}`)
}

function expectError({ status, json }: Answer, expected: readonly [number, string]): void {
  expect([status, json.errorCode]).toEqual(expected)
  expect(json.message).toMatch(/\w/)
}

describe('the catalogs', () => {
  test.each([
    ['/.well-known/ard.json', 'application/json'],
    ['/.well-known/ai-catalog.json', 'application/ai-catalog+json'],
    ['/ard/catalogs/utilities', 'application/ai-catalog+json'],
  ])('%s passes every check of a manifest', async (path, type) => {
    const { status, json, headers } = await home.request('GET', path)
    expect([status, headers.get('content-type')]).toEqual([200, type])
    expect(json.specVersion).toBe('1.0')
    expect(json.entries.length).toBeGreaterThan(2)
    expect(json.entries.flatMap(faultsOf)).toEqual([])
    expect(json).not.toHaveProperty('collections')
    expect(new Set(identifiers(json.entries)).size).toBe(json.entries.length)
  })

  test('are equal at both addresses, and name the registry and a catalog for each category', async () => {
    const first = await home.request('GET', '/.well-known/ard.json')
    expect((await home.request('GET', '/.well-known/ai-catalog.json')).text).toBe(first.text)
    const byType = Map.groupBy<string, Item>(first.json.entries, ({ type }) => String(type))
    expect(byType.get('application/ai-registry+json')).toMatchObject([
      { url: 'https://registry.example/ard' },
    ])
    expect(byType.get('application/ai-catalog+json')).toMatchObject([
      { url: 'https://registry.example/ard/catalogs/utilities', metadata: { total: hostedNames.length } },
    ])
    expect(identifiers(byType.get(a2a) ?? [])).toContain('urn:air:registry.example:svc.registry')
  })

  test('are found by robots.txt, by a link of the documents and of every answer', async () => {
    const url = 'https://registry.example/.well-known/ard.json'
    const { text, headers } = await home.request('GET', '/robots.txt')
    expect(text.split('\n')).toContain(`Agentmap: ${url}`)
    expect(headers.get('content-type')).toContain('text/plain')
    for (const path of ['/', '/llms.txt', '/ard/agents', '/.well-known/ard.json']) {
      expect((await home.request('GET', path)).headers.get('link')).toBe(`<${url}>; rel="ard"`)
    }
  })

  test('are cached by validators, and every web page may read them', async () => {
    for (const path of ['/.well-known/ard.json', '/ard/agents', '/ard/catalogs/utilities']) {
      const { headers } = await home.request('GET', path)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('cache-control')).toBe('public, max-age=60')
      const etag = headers.get('etag') ?? ''
      const again = await home.request('GET', path, { headers: { 'if-none-match': etag } })
      expect([again.status, again.text]).toEqual([304, ''])
    }
    const preflight = await home.request('OPTIONS', '/ard/search')
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
      204,
      'OPTIONS, POST',
    ])
  })

  test.each(['/ard/catalogs/nothing', '/ard/catalogs/a%20b'])('%s is not found', async (path) => {
    expectError(await home.request('GET', path), [404, 'NOT_FOUND'])
  })

  test('lead to cards that exist', async () => {
    const { json } = await home.request('GET', '/ard/agents?pageSize=100')
    for (const { url, type, identifier } of json.items) {
      const { pathname } = new URL(url)
      const card = await home.request('GET', pathname)
      expect([identifier, card.status]).toEqual([identifier, 200])
      if (type === mcp) expect(card.json).toMatchObject({ name: expect.stringContaining('/'), remotes: [{}] })
      else expect(card.json.supportedInterfaces ?? card.json.url).toBeDefined()
    }
  })
})

describe('POST /search', () => {
  test('answers the probe of the conformance test with what fits, best first, in integer scores', async () => {
    const { status, json } = await search(
      { text: 'weather forecast tools', filter: { type: [mcp] } },
      { pageSize: 3 },
    )
    expect(status).toBe(200)
    expect(identifiers(json.results)[0]).toBe('urn:air:example.com:com.example.weather')
    const scores = json.results.map(({ score }: Item) => score) as number[]
    expect(scores.every((score) => Number.isInteger(score) && score >= 0 && score <= 100)).toBe(true)
    expect(new Set(scores).size).toBeGreaterThan(1)
    expect(scores).toEqual(scores.toSorted((left, right) => right - left))
    for (const result of json.results) {
      expect(result).toMatchObject({ type: mcp, source: 'https://registry.example/ard' })
      expect(result.identifier).toMatch(urn)
      expect(result).not.toHaveProperty('representativeQueries')
    }
  })

  test('pages through all that match without a repetition', async () => {
    const whole = await search({ text: 'weather' }, { pageSize: 100 })
    const found: string[] = []
    let pageToken: string | undefined
    do {
      const { json } = await search({ text: 'weather' }, { pageSize: 1, ...(pageToken && { pageToken }) })
      expect(json.results).toHaveLength(1)
      found.push(...identifiers(json.results))
      pageToken = json.pageToken
    } while (pageToken)
    expect(found).toEqual(identifiers(whole.json.results))
    expect(found.length).toBeGreaterThan(3)
  })

  test.each<[object, readonly string[], readonly string[]]>([
    [{ type: [mcp] }, ['com.example.weather'], ['org.example:agent']],
    [{ type: a2a }, ['org.example:agent'], ['com.example.weather']],
    [{ type: [mcp, a2a] }, ['com.example.weather', 'org.example:agent'], []],
    [{ type: ['application/ai-skill'] }, [], ['com.example.weather']],
    [{ publisher: ['example.com'] }, ['com.example.weather'], ['com.example.climate']],
    [{ publisher: ['registry.example'] }, ['com.example.climate'], ['com.example.weather']],
    [{ publisher: ['nobody.example'] }, [], ['com.example.weather']],
    [{ 'metadata.protocol': ['a2a'] }, ['org.example:agent'], ['com.example.weather']],
    [{ tags: ['none-has-it', 'nor-this'] }, [], ['com.example.weather']],
    [{ type: [mcp], publisher: ['registry.example'] }, ['com.example.sail'], ['com.example.weather']],
  ])('with the filter %j finds %j and not %j', async (filter, present, absent) => {
    const { json } = await search({ text: 'weather', filter })
    const found = identifiers(json.results).map((identifier) => identifier.split(':').slice(3).join(':'))
    expect(found).toEqual(expect.arrayContaining([...present]))
    expect(found.filter((name) => absent.includes(name))).toEqual([])
  })

  test.each([
    ['no query', {}],
    ['an empty text', { query: { text: '  ' } }],
    ['a path that nobody supports', { query: { text: 'x', filter: { 'host.name': ['x'] } } }],
    ['a path of the prototype', { query: { text: 'x', filter: { constructor: ['x'] } } }],
    ['two licences', { query: { text: 'x', filter: { 'metadata.license': ['MIT', 'ISC'] } } }],
    ['a page of 0', { query: { text: 'x' }, pageSize: 0 }],
    ['a page of 101', { query: { text: 'x' }, pageSize: 101 }],
    ['a page that is a text', { query: { text: 'x' }, pageSize: '5' }],
    ['another federation', { query: { text: 'x' }, federation: 'all' }],
    ['a token of another query', { query: { text: 'x' }, pageToken: 'bm90aGluZw' }],
    ['a list', []],
    ['no JSON', '{'],
  ])('refuses %s', async (_, body) => {
    expectError(await home.request('POST', '/ard/search', { body }), [400, 'INVALID_ARGUMENT'])
  })

  test('finds nothing of a type that is a name of the prototype, and quotes the path that is not supported', async () => {
    const { json } = await search({ text: 'weather', filter: { type: ['constructor', '__proto__'] } })
    expect(json).toEqual({ results: [] })
    const refused = await home.request('GET', `/ard/agents?filter=${encodeURIComponent('toString = x')}`)
    expect(refused.json.message).toContain('The path toString is not supported.')
  })

  test('names the token of a page as ARD does', async () => {
    const body = { query: { text: 'x' }, pageToken: 'bm90aGluZw' }
    const { json } = await home.request('POST', '/ard/search', { body })
    expect(json.message).toBe('The pageToken does not belong to this query.')
  })

  test('refuses a token that is not valid, and too much', async () => {
    const bad = await home.request('POST', '/ard/search', { body: {}, token: 'nonsense' })
    expectError(bad, [401, 'UNAUTHENTICATED'])
    const large = await home.request('POST', '/ard/search', {
      body: { query: { text: 'x'.repeat(300_000) } },
    })
    expectError(large, [413, 'INVALID_ARGUMENT'])
  })

  test('ignores members that ARD does not define, and null', async () => {
    const { status } = await search(
      { text: 'weather', filter: null, '@context': {} },
      { pageToken: null, trace: 1 },
    )
    expect(status).toBe(200)
  })

  test('without other registries federates with none', async () => {
    const body = { query: { text: 'weather' } }
    const auto = await home.request('POST', '/ard/search', { body })
    const none = await search({ text: 'weather' })
    expect(auto.json).toEqual(none.json)
    const referrals = await search({ text: 'weather' }, { federation: 'referrals' })
    expect(referrals.json).toEqual({ ...none.json, referrals: [] })
  })
})

describe('GET /agents/IDENTIFIER', () => {
  test('gives the whole entry under its identifier, without what belongs to a search', async () => {
    const { json } = await home.request('GET', '/ard/agents?pageSize=100')
    expect(json.items.length).toBe(json.total)
    for (const item of json.items) {
      const found = await lookUp(item.identifier)
      expect([found.status, found.json]).toEqual([200, item])
      expect(faultsOf(found.json)).toEqual([])
      expect(found.json).not.toHaveProperty('score')
      expect(found.json).not.toHaveProperty('source')
      expect(found.headers.get('etag')).toBeTruthy()
    }
  })

  test('states only what the registry has verified', async () => {
    const { json } = await lookUp('urn:air:example.com:com.example.weather')
    expect(json.trustManifest).toEqual({
      identity: 'https://example.com',
      identityType: 'https',
      attestations: [
        { type: 'DomainControl', uri: 'https://registry.example/public/agents/com.example.weather' },
      ],
    })
    const other = await lookUp('urn:air:registry.example:com.example.climate')
    expect(other.json).not.toHaveProperty('trustManifest')
    expect(other.json.metadata).toMatchObject({
      packageName: 'com.example.climate',
      verificationLevel: 'unverified',
    })
  })

  test.each([
    'not-a-valid-ard-urn',
    'urn:air:example.com',
    'urn:air:exa mple.com:name',
    'urn:air:example.com:a/b',
    'urn:air:example.com:a@b',
    'urn:air:example.com:',
    'urn:air::name',
    'urn:AIR-other:example.com:name',
    'urn:air:example.com:name\n',
    'urn:air:example.com:\u200bname',
    `urn:air:example.com:${'n'.repeat(600)}`,
    '../search',
  ])('refuses %j', async (identifier) => {
    expectError(await lookUp(identifier), [400, 'INVALID_ARGUMENT'])
  })

  test.each([
    'urn:air:ard-conformance.invalid:probe:not-found',
    'urn:air:registry.example:com.example.staged',
    'urn:air:registry.example:com.example.banned',
    'urn:air:registry.example:com.example.gone',
    'urn:air:other.example:com.example.climate',
    'urn:air:registry.example:com.example.weather',
    'urn:air:registry.example:a:b:c:d',
    'urn:air:registry.example:__proto__',
  ])('does not find %s', async (identifier) => {
    expectError(await lookUp(identifier), [404, 'NOT_FOUND'])
  })

  test('does not find an entry in STAGE for its owner either', async () => {
    const path = `/ard/agents/${encodeURIComponent('urn:air:registry.example:com.example.staged')}`
    const { status, headers } = await home.request('GET', path, { token: await home.token('owner') })
    expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
  })

  test('says the identifier that an agent has since its domain was proved', async () => {
    const { json } = await lookUp('urn:air:registry.example:com.example.weather')
    expect(json.message).toContain('urn:air:example.com:com.example.weather')
  })

  test('decodes the identifier once', async () => {
    const twice = encodeURIComponent(encodeURIComponent('urn:air:example.com:com.example.weather'))
    expectError(await home.request('GET', `/ard/agents/${twice}`), [400, 'INVALID_ARGUMENT'])
  })
})

describe('POST /explore', () => {
  const explore = (facets: object[], query?: object) =>
    home.request('POST', '/ard/explore', { body: { ...(query && { query }), resultType: { facets } } })

  test('answers the probe of the conformance test', async () => {
    const { status, json } = await explore([{ field: 'type' }], { text: 'weather' })
    expect([status, json.resultType]).toEqual([200, 'facets'])
    expect(json.facets.type.buckets).toContainEqual({ value: mcp, count: 3 })
  })

  test('counts the whole of what a search finds', async () => {
    const { json } = await explore([{ field: 'type' }, { field: 'publisher' }], { text: 'weather' })
    const found = await search({ text: 'weather' }, { pageSize: 100 })
    for (const { buckets } of Object.values<{ buckets: { count: number }[] }>(json.facets)) {
      expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(found.json.results.length)
    }
    const all = (await home.request('GET', '/ard/agents')).json.total
    const types = (await explore([{ field: 'type' }])).json.facets.type.buckets as { count: number }[]
    expect(types.reduce((sum, { count }) => sum + count, 0)).toBe(all)
  })

  test('cuts to the most frequent values and says how many it left out', async () => {
    const { json } = await explore([
      { field: 'publisher', limit: 1 },
      { field: 'metadata.callable', minCount: 1000 },
    ])
    const total = (await home.request('GET', '/ard/agents')).json.total
    expect(json.facets.publisher).toEqual({
      buckets: [{ value: 'registry.example', count: total - 1 }],
      otherCount: 1,
    })
    expect(json.facets['metadata.callable']).toEqual({ buckets: [] })
  })

  test.each([
    ['no resultType', {}],
    ['no facet', { resultType: { facets: [] } }],
    ['a path that nobody supports', { resultType: { facets: [{ field: 'displayName' }] } }],
    ['a limit of 0', { resultType: { facets: [{ field: 'type', limit: 0 }] } }],
  ])('refuses %s', async (_, body) => {
    expectError(await home.request('POST', '/ard/explore', { body }), [400, 'INVALID_ARGUMENT'])
  })
})

describe('GET /agents', () => {
  const agents = (query: Record<string, string>) =>
    home.request('GET', `/ard/agents?${new URLSearchParams(query)}`)

  test('answers the probe of the conformance test, and pages through all', async () => {
    const { status, json } = await home.request('GET', '/ard/agents')
    expect(status).toBe(200)
    const found: string[] = []
    let pageToken = ''
    do {
      const page = await agents({ pageSize: '2', ...(pageToken && { pageToken }) })
      found.push(...identifiers(page.json.items))
      pageToken = page.json.pageToken ?? ''
    } while (pageToken)
    expect(found).toEqual(identifiers(json.items))
    expect(new Set(found).size).toBe(json.total)
    expect(found.some((identifier) => /staged|banned|gone/.test(identifier))).toBe(false)
  })

  test.each([
    [`type = '${mcp}'`, 3],
    [`type='${mcp}','${a2a}' AND publisherId = "example.com"`, 1],
    ['publisherId = example.com, registry.example AND type = application/mcp-server-card+json', 3],
    ["createdAfter > '2000-01-01T00:00:00Z' and type = 'application/mcp-server-card+json'", 3],
    ['createdAfter = 2999-01-01', 0],
    ["category = 'utilities'", hostedNames.length],
  ])('with the filter %s lists %i', async (filter, count) => {
    const { status, json } = await agents({ filter })
    expect([status, json.items?.length]).toEqual([200, count])
  })

  test('orders by name and by time', async () => {
    const names = async (orderBy: string) =>
      (await agents({ orderBy })).json.items.map(({ displayName }: Item) => displayName)
    const byName = await names('displayName')
    expect(byName).toEqual(byName.toSorted())
    expect((await names('createdAt DESC'))[0]).toBe('org.example/agent')
  })

  test.each([
    { filter: 'type =' },
    { filter: "type = 'a' OR type = 'b'" },
    { filter: "type = 'a" },
    { filter: "type = 'a' AND " },
    { filter: "type = 'a' AND type = 'b'" },
    { filter: 'displayName = x' },
    { filter: 'constructor = x' },
    { filter: 'updatedAfter > 2026-01-01' },
    { filter: 'type > a' },
    { filter: 'createdAfter = yesterday' },
    { filter: 'createdAfter = 2026-01-01', orderBy: 'displayName' },
    { filter: `type = ${'a,'.repeat(2000)}a` },
    { orderBy: 'score' },
    { orderBy: 'constructor' },
    { pageSize: '0' },
    { pageSize: '101' },
    { pageSize: 'ten' },
    { pageToken: 'nonsense' },
  ])('refuses %j', async (query) => {
    expectError(await agents(query as Record<string, string>), [400, 'INVALID_ARGUMENT'])
  })
})

test('the origin of a server that a file listed has its name and no address', async () => {
  await using filled = await startGateway()
  const server = { name: 'com.example/sea', description: 'Tides.', version: '1.0.0' }
  const remotes = [{ type: 'streamable-http', url: 'https://sea.example.com/mcp' }]
  const line = JSON.stringify({ server: { ...server, remotes } })
  const { signal } = new AbortController()
  await filled.gateway.dispatch(
    { to: 'svc.registry', action: 'import_entries', params: { lines: [line], first_line: 1 } },
    { principal: localPrincipal, client: 'local', signal },
  )
  const { json } = await filled.request('GET', '/ard/agents')
  const [sea] = json.items.filter(({ displayName }: Item) => String(displayName).includes('sea'))
  expect(sea.metadata.origin).toEqual({ name: 'com.example/sea' })
})

test('a client that asks too often is told so in the words of ARD', async () => {
  await using limited = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' })
  const ask = () => limited.request('POST', '/ard/search', { body: { query: { text: 'x' } } })
  let answer = await ask()
  for (let count = 0; count < 130 && answer.status === 200; count++) answer = await ask()
  expectError(answer, [429, 'RATE_LIMIT_EXCEEDED'])
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
})
