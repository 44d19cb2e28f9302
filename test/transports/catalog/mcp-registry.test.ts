import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'

const official = 'io.modelcontextprotocol.registry/official'
const own = 'io.github.dragoman/registry'

let home: TestGateway
beforeAll(async () => {
  home = await startGateway()
  for (const [package_name, description] of agents) {
    const endpoint = {
      protocol: 'mcp',
      url: `https://${package_name.replaceAll(/[./]/g, '-')}.example/mcp`,
    } as const
    await list(home, { package_name, description, endpoints: [endpoint] })
  }
  await list(home, {
    package_name: 'com.example.bridge',
    description: 'Books flights.',
    endpoints: [{ protocol: 'a2a', url: 'https://bridge.example/a2a' }],
  })
})
afterAll(() => home[Symbol.asyncDispose]())

const agents = [
  ['com.example/postman', 'Delivers electronic letters to mailboxes of a company.'],
  ['com.example.weather', 'Forecasts of rain, wind and temperature for any city.'],
  ['com.example.ledger', 'Keeps the books: invoices, payments and taxes.'],
] as const

/** A cursor that nobody was given. */
const cursorOf = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url')

const ask = (path: string, headers: Record<string, string> = {}) => home.request('GET', path, { headers })
const namesIn = (page: { servers: { server: { name: string } }[] }) =>
  page.servers.map(({ server }) => server.name)

/** Every page from a path on, following cursors; each page repeats only the parameters given. */
async function browse(path: string, repeated = ''): Promise<string[]> {
  const names: string[] = []
  let { json } = await ask(path)
  for (;;) {
    names.push(...namesIn(json))
    const { nextCursor } = json.metadata
    if (!nextCursor) return names
    json = (await ask(`/v0.1/servers?cursor=${nextCursor}${repeated}`)).json
  }
}

describe('the API of the MCP registry, reading', () => {
  test.each(['/v0.1', '/v0'])('lists the agents in the order of their names at %s/servers', async (base) => {
    const { status, json, headers } = await ask(`${base}/servers`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    const names = namesIn(json)
    expect(names).toEqual(names.toSorted())
    expect(names).toEqual(
      expect.arrayContaining([
        'com.example/bridge',
        'com.example/postman',
        'com.example/weather',
        'svc/registry',
      ]),
    )
    expect(json.metadata).toEqual({ count: names.length })
  })

  test('shows the document of an agent, the official facts and our own', async () => {
    const { json } = await ask('/v0.1/servers/com.example%2Fweather/versions/latest')
    expect(json.server).toMatchObject({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: 'com.example/weather',
      description: 'Forecasts of rain, wind and temperature for any city.',
      version: expect.stringMatching(/^0\.0\.0-r\.\d+$/),
      remotes: [{ type: 'streamable-http', url: 'https://com-example-weather.example/mcp' }],
    })
    expect(json._meta[official]).toMatchObject({ status: 'active', isLatest: true })
    expect(json._meta[own]).toMatchObject({
      package_name: 'com.example.weather',
      verification_level: 'unverified',
      callable: 'stated',
      is_bridged: false,
    })
  })

  test('lists an A2A agent at the address where this gateway speaks MCP for it, unless it is left out', async () => {
    const { json } = await ask('/v0.1/servers/com.example%2Fbridge/versions/latest')
    expect(json.server.remotes).toEqual([
      { type: 'streamable-http', url: `${home.url}/mcp/agents/com.example.bridge` },
    ])
    expect(namesIn((await ask('/v0.1/servers?bridged=false')).json)).not.toContain('com.example/bridge')
    expect(await browse('/v0.1/servers?search=flights&bridged=false')).not.toContain('com.example/bridge')
    expect(await browse('/v0.1/servers?search=flights')).toContain('com.example/bridge')
  })

  test('answers a name in one encoded segment and in two plain ones', async () => {
    const encoded = await ask('/v0.1/servers/com.example%2Fpostman/versions')
    const plain = await ask('/v0.1/servers/com.example/postman/versions')
    expect(encoded.json).toEqual(plain.json)
    expect(encoded.json.metadata).toEqual({ count: 1 })
    const version = encodeURIComponent(encoded.json.servers[0].server.version)
    expect((await ask(`/v0.1/servers/com.example/postman/versions/${version}`)).json).toEqual(
      encoded.json.servers[0],
    )
  })

  test('a cursor is of unreserved characters and carries the filters, so that later pages need not repeat them', async () => {
    const all = await browse('/v0.1/servers?limit=2', '&limit=2')
    expect(all).toEqual(namesIn((await ask('/v0.1/servers?limit=100')).json))
    expect(await browse('/v0.1/servers?limit=1&version=latest&bridged=false', '&limit=1')).toEqual(
      all.filter((name) => name !== 'com.example/bridge'),
    )
    const { json } = await ask('/v0.1/servers?limit=1&search=invoices+letters+flights&version=latest')
    expect(json.metadata.nextCursor).toMatch(/^[A-Za-z0-9._~-]+$/)
    const next = await ask(`/v0.1/servers?limit=1&version=latest&cursor=${json.metadata.nextCursor}`)
    expect(namesIn(next.json)).not.toEqual(namesIn(json))
    expect(next.json.servers[0]._meta[own].score).toBeTypeOf('number')
  })

  test('searches by words and by meaning, and by a part of the name where a version or a time is asked', async () => {
    for (const path of [
      '/v0.1/servers?search=',
      '/v0.1/servers?version=latest&search=',
      '/v0.1/x/io.github.dragoman/search?q=',
    ])
      expect(namesIn((await ask(`${path}send+an+email`)).json)[0]).toBe('com.example/postman')
    const since = 'updated_since=2020-01-01T00:00:00Z'
    expect(namesIn((await ask(`/v0.1/servers?search=WEATH&${since}`)).json)).toEqual(['com.example/weather'])
    expect(namesIn((await ask(`/v0.1/servers?search=send+an+email&${since}`)).json)).toEqual([])
    expect((await ask(`/v0.1/servers?search=we&${since}`)).status).toBe(422)
  })

  test('takes an empty search for none', async () => {
    expect(namesIn((await ask('/v0.1/servers?search=&cursor=')).json)).toEqual(
      namesIn((await ask('/v0.1/servers')).json),
    )
  })

  const faults = [
    ['servers?limit=0', 422, 'query.limit'],
    ['servers?limit=101', 422, 'query.limit'],
    ['servers?limit=many', 422, 'query.limit'],
    ['servers?include_deleted=perhaps', 422, 'query.include_deleted'],
    ['servers?updated_since=yesterday', 400, 'query.updated_since'],
    ['servers?updated_since=2020-01-01T00:00:00Z&include_deleted=false', 400, 'query.updated_since'],
    ['servers?cursor=com.example/weather:1.0.0', 400, 'query.cursor'],
    ['servers?search=a%00b', 400, undefined],
    [`servers?cursor=${cursorOf({ filters: {}, after: ['a', '\0'] })}`, 400, 'query.cursor'],
    [`servers?cursor=${cursorOf({ filters: { limit: 1 }, after: ['a', 'b'] })}`, 400, 'query.cursor'],
    [`servers?cursor=${cursorOf({ filters: { query: 'x' }, after: 'forged' })}`, 400, 'query.cursor'],
    [`servers?search=${'x'.repeat(1001)}`, 422, 'query.search'],
    ['servers/com.example%2Fnothing/versions', 404, undefined],
    ['servers/com.example%2Fnothing/versions/latest', 404, undefined],
    ['servers/com.example%2Fweather/versions/9.9.9', 404, undefined],
    ['servers/com.example%2Fweather', 404, undefined],
    ['servers/a/b/c/versions', 404, undefined],
    ['servers/%E0%A4/versions', 400, undefined],
    ['servers/a%2Fb%00/versions', 400, undefined],
    ['nothing', 404, undefined],
  ] as const
  test.each(faults)('answers %s with the problem %i', async (path, status, location) => {
    for (const base of ['/v0.1', '/v0']) {
      const answer = await ask(`${base}/${path}`)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.json).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) })
      expect(answer.json.code).toBe(status === 404 ? 'not_found' : 'invalid_request')
      if (location) expect(answer.json.errors[0].location).toBe(location)
    }
  })

  test('says that it is well, and which version it is', async () => {
    expect((await ask('/v0.1/health')).json).toEqual({ status: 'ok' })
    expect((await ask('/v0/ping')).json).toEqual({ pong: true })
    expect((await ask('/v0/version')).json).toMatchObject({ version: expect.any(String) })
  })

  test('leads from a slash at the end to the path without it, and never to another host', async () => {
    const answer = await fetch(`${home.url}/v0.1/servers/?limit=1`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([308, '/v0.1/servers?limit=1'])
  })

  test('lets every web page read it, with a token too', async () => {
    const answer = await home.request('OPTIONS', '/v0.1/servers?limit=1')
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-headers')).toContain('Authorization')
    expect(answer.headers.get('access-control-allow-methods')).toContain('GET')
  })

  test('answers HEAD without a body', async () => {
    const answer = await home.request('HEAD', '/v0.1/servers')
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(100)
  })

  test('validates and compresses what clients have already', async () => {
    const plain = await fetch(`${home.url}/v0.1/servers`, { headers: { 'Accept-Encoding': 'identity' } })
    const packed = await fetch(`${home.url}/v0.1/servers`, { headers: { 'Accept-Encoding': 'gzip, br' } })
    const zipped = await home.request('GET', '/v0.1/servers', {
      headers: { 'Accept-Encoding': 'gzip;q=1, br;q=0' },
    })
    expect(packed.headers.get('content-encoding')).toBe('br')
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    expect(await packed.json()).toEqual(await plain.json())
    const tags = [plain, packed, zipped].map(({ headers }) => headers.get('etag') ?? '')
    expect(new Set(tags).size).toBe(3)
    expect(plain.headers.get('cache-control')).toBe('public, max-age=30')
    expect(plain.headers.get('vary')).toContain('Accept-Encoding')
    expect(
      (await ask('/v0.1/servers', { 'If-None-Match': tags[0] ?? '', 'Accept-Encoding': 'identity' })).status,
    ).toBe(304)
  })

  test('tells at once of a change, also where it had answered before', async () => {
    const path = '/v0.1/servers/com.example%2Fbrief/versions/latest'
    expect((await ask(path)).status).toBe(404)
    const id = await list(home, {
      package_name: 'com.example.brief',
      endpoints: [{ protocol: 'mcp', url: 'https://brief.example/mcp' }],
    })
    expect((await ask(path)).status).toBe(200)
    const token = await home.token('owner')
    await home.request('POST', `/api/agents/${id}/unpublish`, { token })
    expect((await ask(path)).status).toBe(404)
    const { json } = await ask(`${path}?include_deleted=true`)
    expect(json.server.description).toBe('No longer listed.')
    expect(json._meta[official].status).toBe('deleted')
    const changed = await ask(
      `/v0.1/servers?updated_since=${encodeURIComponent(json._meta[official].publishedAt)}`,
    )
    expect(namesIn(changed.json)).toContain('com.example/brief')
    await home.request('DELETE', `/api/agents/${id}`, { token })
    expect((await ask(path)).status).toBe(404)
  })

  test('keeps earlier versions as they were', async () => {
    const token = await home.token('owner')
    const publication = (version: string, description: string) => ({
      package_name: 'com.example.history',
      name: 'History',
      description,
      version,
      endpoints: [{ protocol: 'mcp', url: 'https://history.example/mcp' }],
    })
    const { json } = await home.request('POST', '/api/agents/publish', {
      body: publication('1.2.0', 'First.'),
      token,
    })
    await home.request('POST', `/api/agents/${json.id}/go-live`, { token })
    const { package_name: _, ...next } = publication('1.10.0', 'Second.')
    const updated = await home.request('PUT', `/api/agents/${json.id}`, { body: next, token })
    expect(updated.status, updated.text).toBe(200)
    const { servers } = (await ask('/v0.1/servers/com.example%2Fhistory/versions')).json
    expect(servers.map(({ server }: { server: object }) => server)).toMatchObject([
      { version: '1.10.0', description: 'Second.' },
      { version: '1.2.0', description: 'First.' },
    ])
    const latest = await ask('/v0.1/servers/com.example%2Fhistory/versions/latest')
    expect(latest.json.server.version).toBe('1.10.0')
    const rows = namesIn((await ask('/v0.1/servers?version=1.2.0')).json)
    expect(rows).toEqual(['com.example/history'])
  })
})

test('an IDE that asks for each of its servers at once is not refused', async () => {
  await using limited = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' })
  const path = (index: number) => `${limited.url}/v0.1/servers/com.example%2Fserver-${index}/versions/latest`
  const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => fetch(path(index))))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
})

describe('a request that the API of the MCP registry does not serve', () => {
  test.each([
    ['POST', 'servers', 'GET, HEAD, OPTIONS'],
    ['DELETE', 'servers/com.example%2Fweather/versions/1.0.0', 'GET, HEAD, OPTIONS'],
    ['GET', 'publish', 'POST, OPTIONS'],
    ['GET', 'auth/dns', 'POST, OPTIONS'],
    ['POST', 'servers/com.example%2Fweather/status', 'PATCH, OPTIONS'],
    ['POST', 'ping', 'GET, HEAD, OPTIONS'],
  ] as const)('%s %s names the methods of the path', async (method, path, allow) => {
    const body = method === 'POST' ? { body: {} } : {}
    const answer = await home.request(method, `/v0.1/${path}`, body)
    expect(answer).toMatchObject({ status: 405, json: { code: 'method_not_allowed' } })
    expect(answer.headers.get('allow')).toBe(allow)
    expect(answer.json.detail).toBe(`/v0.1/${path} takes ${allow}, not ${method}.`)
    expect((await home.request('OPTIONS', `/v0.1/${path}`)).headers.get('allow')).toBe(allow)
  })

  test('is not found at a path that there is not, whatever its method', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await home.request(method, '/v0.1/nothing', method === 'POST' ? { body: {} } : {})
      expect(answer).toMatchObject({ status: 404, json: { hint: 'GET /v0.1/servers lists the servers.' } })
    }
  })

  test('is told the path and the parameter by their names in this API', async () => {
    const unknown = await ask('/v0.1/servers/com.example%2Fnobody/versions/latest')
    expect(unknown.json.hint).toContain('GET /v0.1/servers finds the names')
    expect(unknown.json.type).toBe(`${home.url}/docs/errors#not_found`)
    const blank = await ask('/v0.1/x/io.github.dragoman/search')
    expect(blank.json).toMatchObject({ errors: [{ location: 'query.search' }] })
    expect(blank.json.detail).toMatch(/^\/search: /)
  })
})
