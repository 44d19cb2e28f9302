import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

test('a connection stays open after answers that read no body', async () => {
  for (const path of ['/healthz', '/', '/nowhere', '/public/agents']) {
    expect([path, (await home.request('GET', path)).headers.get('connection')]).toEqual([path, 'keep-alive'])
  }
})

test('204 and 304 state no length', async () => {
  const preflight = await home.request('OPTIONS', '/public/agents')
  const etag = (await home.request('GET', '/public/agents')).headers.get('etag') ?? ''
  const unchanged = await home.request('GET', '/public/agents', { headers: { 'If-None-Match': etag } })
  expect([preflight.status, unchanged.status]).toEqual([204, 304])
  for (const { headers } of [preflight, unchanged]) expect(headers.get('content-length')).toBeNull()
})

test('a tag is of one caller with one set of rights', async () => {
  const owner = await home.token('owner')
  const body = {
    package_name: 'com.tagged.agent',
    name: 'A',
    description: 'B',
    endpoints: [{ protocol: 'mcp', url: 'https://example.com/mcp' }],
  }
  await home.request('POST', '/api/agents/publish', { token: owner, body })
  await home.request('POST', '/api/agents/com.tagged.agent/go-live', { token: owner })
  const read = async (namespaces: string[]) =>
    home.request('GET', '/api/agents/com.tagged.agent', { token: await home.token('nina', { namespaces }) })
  const lesser = await read([])
  const greater = await read(['com.tagged'])
  expect([lesser.json.owner.subject, greater.json.owner.subject]).toEqual([undefined, 'owner'])
  expect(lesser.headers.get('etag')).not.toBe(greater.headers.get('etag'))
})

test('an entry is distinguished from a card with a revision of its own', async () => {
  const admin = await home.token('importer', { scopes: ['admin'] })
  const card = (description: string) =>
    JSON.stringify({
      id: '1',
      revision: 1,
      name: 'Odd',
      description,
      url: 'https://odd.example/a2a',
      skills: [],
    })
  const list = (description: string) =>
    home.request('POST', '/a2a/message', {
      token: admin,
      body: { to: 'svc.registry', action: 'import_entries', params: { lines: [card(description)] } },
    })
  await list('First.')
  const path = '/agents/example.odd%2Fodd/.well-known/agent-card.json'
  const first = await home.request('GET', path)
  expect(first.json.description).toBe('First.')
  await list('Second.')
  const second = await home.request('GET', path, {
    headers: { 'If-None-Match': first.headers.get('etag') ?? '' },
  })
  expect([second.status, second.json.description]).toEqual([200, 'Second.'])
})

test('errors point at the query parameter, and a field that a form left empty is not there', async () => {
  const wrong = await home.request('GET', '/public/agents?category=a%20b')
  expect(wrong.json.errors[0].pointer).toBe('/category')
  const empty = await home.request('GET', '/public/agents?q=&category=&target=')
  expect([empty.status, empty.json.total > 0]).toEqual([200, true])
})

test('a page of large agents ends before 1 MiB, and its cursor leads to the others', async () => {
  const admin = await home.token('importer', { scopes: ['admin'] })
  const endpoints = Array.from({ length: 20 }, (_, at) => ({
    protocol: 'a2a',
    url: `https://large.example/${'x'.repeat(1900)}${at}`,
  }))
  const lines = Array.from({ length: 40 }, (_, at) =>
    JSON.stringify({
      name: `Large ${at}`,
      description: 'Large.',
      url: `https://large.example/${at}`,
      tags: ['large'],
      endpoints,
    }),
  )
  await home.request('POST', '/a2a/message', {
    token: admin,
    body: { to: 'svc.registry', action: 'import_entries', params: { lines: lines.slice(0, 20) } },
  })
  await home.request('POST', '/a2a/message', {
    token: admin,
    body: { to: 'svc.registry', action: 'import_entries', params: { lines: lines.slice(20) } },
  })
  for (const query of ['sort=name', 'q=large']) {
    const names = new Set<string>()
    let pages = 0
    for (let cursor = ''; ; pages++) {
      const path = `/public/agents?tags=large&limit=40&${query}${cursor}`
      const { status, text, json } = await home.request('GET', path)
      expect(status).toBe(200)
      expect(text.length).toBeLessThan(1024 * 1024)
      for (const { package_name } of json.agents) names.add(package_name)
      if (json.next_cursor === null) break
      cursor = `&cursor=${encodeURIComponent(json.next_cursor)}`
    }
    expect([names.size, pages > 0]).toEqual([40, true])
  }
})

test('rate limits count down, then answer 429 with Retry-After', async () => {
  await using limited = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' }, { clock: () => 1_800_000_000_000 })
  const search = () => limited.request('POST', '/api/agents/search', { body: { query: 'wiki' } })
  const first = await search()
  expect(first.headers.get('ratelimit-policy')).toBe('"search";q=120;w=60')
  expect(first.headers.get('ratelimit')).toMatch(/^"search";r=119;t=\d+$/)
  for (let call = 1; call < 120; call++) expect((await search()).status).toBe(200)
  const refused = await search()
  expect(refused.status).toBe(429)
  expect(refused.json.code).toBe('rate_limited')
  const wait = Number(refused.headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  expect(refused.headers.get('ratelimit-policy')).toBe('"search";q=120;w=60')
  expect(refused.headers.get('ratelimit')).toBe(`"search";r=0;t=${wait}`)
  expect((await limited.request('GET', '/public/agents')).status).toBe(200)
})

test('writes with a token are limited to 60 a minute, and to fewer for large agents', async () => {
  const clock = () => 1_800_000_000_000
  await using limited = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' }, { clock })
  const send = async (subject: string, package_name: string, characters: number) => {
    const description = 'x'.repeat(characters)
    const body = {
      package_name,
      name: 'A',
      description: 'B',
      capabilities: [{ name: 'c', description: 'd', input_schema: { description } }],
    }
    const token = await limited.token(subject)
    return await limited.request('POST', '/api/agents/publish', { token, body })
  }
  const first = await send('ada', 'com.limited.agent-0', 1)
  expect(first.headers.get('ratelimit-policy')).toBe('"write";q=60;w=60')
  expect(first.headers.get('ratelimit')).toMatch(/^"write";r=59;t=\d+$/)
  for (let count = 1; count < 60; count++) {
    expect((await send('ada', `com.limited.agent-${count}`, 1)).status).toBe(201)
  }
  const refused = await send('ada', 'com.limited.agent-60', 1)
  expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited'])
  expect((await limited.request('GET', '/public/agents', { token: await limited.token('ada') })).status).toBe(
    200,
  )
  let large = 0
  while ((await send('eve', `com.large.agent-${large}`, 128_000)).status === 201) large++
  expect(large).toBeGreaterThan(40)
  expect(large).toBeLessThan(60)
}, 30_000)

test('behind a trusted proxy each caller is counted separately, and cannot pose as another', async () => {
  const clock = () => 1_800_000_000_000
  await using proxied = await startGateway(
    { DRAGOMAN_RATE_LIMIT: 'on', DRAGOMAN_TRUSTED_PROXIES: '127.0.0.1' },
    { clock },
  )
  await using bare = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' }, { clock })
  const left = async (gateway: TestGateway, from: string) => {
    const headers = { 'X-Forwarded-For': from }
    const { headers: answer } = await gateway.request('GET', '/public/agents', { headers })
    return /r=(\d+)/.exec(answer.get('ratelimit') ?? '')?.[1]
  }
  expect([await left(proxied, '203.0.113.1'), await left(proxied, '203.0.113.2')]).toEqual(['599', '599'])
  expect([await left(proxied, 'spoofed, 2001:db8::1'), await left(proxied, '2001:db8:0:0:ffff::2')]).toEqual([
    '599',
    '598',
  ])
  expect([await left(bare, '203.0.113.1'), await left(bare, '203.0.113.2')]).toEqual(['599', '598'])
})

test('behind a chain of trusted proxies, some of them in networks, the caller is who came to the first', async () => {
  await using proxied = await startGateway(
    {
      DRAGOMAN_RATE_LIMIT: 'on',
      DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8, 192.0.2.7, fd00::/8, ::ffff:127.0.0.1',
    },
    { clock: () => 1_800_000_000_000 },
  )
  const left = async (chain: string) => {
    const headers = chain === '' ? {} : { 'X-Forwarded-For': chain }
    const { headers: answer } = await proxied.request('GET', '/public/agents', { headers })
    return Number(/r=(\d+)/.exec(answer.get('ratelimit') ?? '')?.[1])
  }
  const chains = [
    ['203.0.113.1', 599],
    ['203.0.113.1, 10.1.2.3', 598],
    ['203.0.113.1, 192.0.2.7, ::ffff:10.255.0.1, fd12:3456::9', 597],
    // What the caller sent itself does not count.
    ['198.51.100.9, 203.0.113.1, 10.1.2.3', 596],
    // Not in the networks: these are callers.
    ['203.0.113.1, 11.0.0.1', 599],
    ['203.0.113.1, 192.0.2.8', 599],
    ['203.0.113.1, fe00::1', 599],
    // A chain of proxies alone is one of the first.
    ['10.9.9.9, 10.1.2.3', 599],
    ['10.9.9.9', 598],
    // A proxy that names nobody is the caller.
    ['', 599],
    [', ', 598],
  ] as const
  for (const [chain, expected] of chains) expect([chain, await left(chain)]).toEqual([chain, expected])
})

test('an owner stays one when the gateway gets another address', async () => {
  await using folder = await temporaryFolder()
  const body = {
    package_name: 'com.moving.agent',
    name: 'A',
    description: 'B',
    endpoints: [{ protocol: 'mcp', url: 'https://example.com/mcp' }],
  }
  const environments = [
    { DRAGOMAN_DATA: folder.path },
    { DRAGOMAN_DATA: folder.path, DRAGOMAN_BASE_URL: 'https://registry.example' },
  ]
  const statuses: number[] = []
  for (const environment of environments) {
    await using gateway = await startGateway(environment)
    const token = await gateway.token('alice')
    if (statuses.length === 0)
      statuses.push((await gateway.request('POST', '/api/agents/publish', { token, body })).status)
    statuses.push((await gateway.request('GET', '/api/agents/com.moving.agent', { token })).status)
  }
  expect(statuses).toEqual([201, 200, 200])
})

test.each(['/a2a/message', '/rpc', '/mcp', '/a2a/v1', '/a2a/v1/message:send'])(
  'a refusal of %s is not kept by caches and names its request',
  async (path) => {
    const { status, headers } = await home.request('POST', path, {
      token: 'bad',
      body: {},
      headers: { 'X-Request-Id': 'mine' },
    })
    expect(status).toBe(401)
    expect([headers.get('cache-control'), headers.get('x-request-id')]).toEqual(['no-store', 'mine'])
  },
)

test('keeps an idle connection longer than balancers do, which would else send a request into its end', async () => {
  const answer = await home.request('GET', '/healthz')
  const [, seconds] = /timeout=(\d+)/.exec(answer.headers.get('keep-alive') ?? '') ?? []
  expect(Number(seconds)).toBeGreaterThan(60)
})
