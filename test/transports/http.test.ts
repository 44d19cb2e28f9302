import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const json = { 'Content-Type': 'application/json' }
const tooLong = JSON.stringify({ query: 'x'.repeat(1024 * 1024 + 1 - 12) })

describe('bodies', () => {
  test.each(['/a2a/message', '/api/agents/search', '/rpc', '/mcp'])(
    '%s answers 400 to a body that is not JSON',
    async (path) => {
      const { status, text } = await home.request('POST', path, { body: '{"to":', headers: json })
      // JSON-RPC answers in its own protocol, section 5.1 of its specification.
      expect(status).toBe(path === '/rpc' ? 200 : 400)
      expect(text).toContain('"invalid_request"')
    },
  )

  test.each(['/a2a/message', '/api/agents/search', '/rpc', '/mcp'])(
    '%s answers 413 to 1 MiB and one byte',
    async (path) => {
      expect(Buffer.byteLength(tooLong)).toBe(1024 * 1024 + 1)
      const { status, text } = await home.request('POST', path, { body: tooLong, headers: json })
      expect(status).toBe(413)
      expect(text).toContain('"too_large"')
    },
  )

  test('a chunked body over the limit is 413 too', async () => {
    const { port } = new URL(home.url)
    const sent = httpRequest({ port, path: '/a2a/message', method: 'POST', headers: json })
    const answered = new Promise<number | undefined>((resolve) =>
      sent.on('response', (response) => resolve(response.statusCode)),
    )
    sent.on('error', () => {})
    for (let sentBytes = 0; sentBytes <= 1024 * 1024; sentBytes += 65_536) sent.write('x'.repeat(65_536))
    sent.end()
    expect(await answered).toBe(413)
  })

  test('exactly 1 MiB is read with a token, and exactly 256 KiB without one', async () => {
    const search = (bytes: number) => JSON.stringify({ query: 'x'.repeat(bytes - 12) })
    const token = await home.token('owner')
    for (const [bytes, caller] of [
      [1024 * 1024, { token }],
      [256 * 1024, {}],
    ] as const) {
      const read = await home.request('POST', '/api/agents/search', { body: search(bytes), ...caller })
      expect(read.json.code).toBe('invalid_request')
      expect(read.json.errors[0].pointer).toBe('/query')
      const refused = await home.request('POST', '/api/agents/search', { body: search(bytes + 1), ...caller })
      expect(refused.json).toMatchObject({
        code: 'too_large',
        detail: expect.stringContaining(String(bytes)),
      })
    }
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-7', ''])(
    'a body of type "%s" is 415',
    async (type) => {
      const { status, json } = await home.request('POST', '/api/agents/search', {
        body: '{"query":"x"}',
        headers: { 'Content-Type': type },
      })
      expect(status).toBe(415)
      expect(json.code).toBe('unsupported_media_type')
    },
  )

  test('bytes that are not UTF-8 are refused, and none of them is stored', async () => {
    const send = (path: string, bytes: Uint8Array) =>
      fetch(`${home.url}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: bytes as Uint8Array<ArrayBuffer>,
      })
    const latin1 = Buffer.from('{"query": "caf\u00e9"}', 'latin1')
    for (const path of ['/api/agents/search', '/a2a/message', '/mcp']) {
      const answer = await send(path, latin1)
      expect(answer.status, path).toBe(400)
      expect(await answer.text(), path).toContain('is not in UTF-8.')
    }
    const rpc = await send('/rpc', latin1)
    expect(await rpc.json()).toMatchObject({
      error: { code: -32700, message: 'The message is not in UTF-8.' },
    })
    const marked = Buffer.from('\ufeff{"query": "caf\u00e9"}')
    expect((await send('/api/agents/search', marked)).status).toBe(200)
  })

  test('a compressed body is 415', async () => {
    const headers = { ...json, 'Content-Encoding': 'gzip' }
    const { status } = await home.request('POST', '/a2a/message', { body: 'x', headers })
    expect(status).toBe(415)
  })

  test.each(['null', '[]', '"text"', '5'])('the body %s is 400', async (body) => {
    const { status, json } = await home.request('POST', '/a2a/message', {
      body,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(status).toBe(400)
    expect(json.code).toBe('invalid_request')
  })
})

const capabilities = [{ name: 'do', description: 'Does it.' }]

describe('queries', () => {
  test('a repeated scalar is 400 with a reason', async () => {
    const { status, json } = await home.request('GET', '/public/agents?limit=1&limit=2')
    expect(status).toBe(400)
    expect(json.errors).toEqual([{ pointer: '/limit', detail: 'Give it once.' }])
  })

  test.each([
    ['limit=many', '/limit', 'Give a number from 1 to 100, not the text "many".'],
    ['limit=1000', '/limit', 'Give a number from 1 to 100.'],
    ['limit=1.5', '/limit', 'Give a whole number from 1 to 100.'],
    ['min_score=2', '/min_score', 'Give a number from 0 to 1.'],
    ['live=perhaps', '/live', 'Give true or false, not the text "perhaps".'],
    ['protocol=a2a,smtp', '/protocol/1', 'Give one of a2a, mcp, envelope, none.'],
    ['sort=price', '/sort', 'Give one of relevance, newest, name.'],
    [`cursor=${'x'.repeat(2001)}`, '/cursor', 'Give at most 2000 characters.'],
    ['category=A%20B', '/category', 'Use 1 to 40 letters, digits and dashes.'],
  ])('%.20s is refused in plain words, which name the parameter', async (query, pointer, detail) => {
    const { status, json } = await home.request('GET', `/public/agents?${query}`)
    expect([status, json.errors]).toEqual([400, [{ pointer, detail }]])
    expect(json.detail).toBe(`${pointer}: ${detail}`)
  })

  test('an unknown parameter names its nearest', async () => {
    const { status, json } = await home.request('GET', '/public/agents?tag=x')
    expect(status).toBe(400)
    expect(json.nearest).toEqual(['tags'])
  })

  test('tags may be repeated or separated by commas', async () => {
    const repeated = await home.request('GET', '/public/agents?tags=registry&tags=search&sort=name')
    const commas = await home.request('GET', '/public/agents?tags=registry,search&sort=name')
    expect(repeated.json.total).toBeGreaterThan(0)
    expect(repeated.json).toEqual(commas.json)
  })

  test('a number may be written with an exponent', async () => {
    expect((await home.request('GET', '/public/agents?q=wiki&min_score=1e-05')).status).toBe(200)
    expect((await home.request('GET', '/public/agents?q=wiki&min_score=1e2')).status).toBe(400)
  })

  test('an empty limit is 400, not 0', async () => {
    expect((await home.request('GET', '/public/agents?limit=')).status).toBe(400)
  })

  test('a cursor walks every agent once and refuses another query', async () => {
    const all = await home.request('GET', '/public/agents?sort=name')
    const names: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await home.request(
        'GET',
        `/public/agents?sort=name&limit=1${cursor && `&cursor=${cursor}`}`,
      )
      names.push(...page.json.agents.map((agent: { package_name: string }) => agent.package_name))
      expect(page.json.total).toBe(all.json.total)
      cursor = page.json.next_cursor
      if (cursor) {
        const other = await home.request('GET', `/public/agents?sort=newest&cursor=${cursor}`)
        expect(other.json.code).toBe('invalid_request')
      }
    }
    expect(names).toEqual(all.json.agents.map((agent: { package_name: string }) => agent.package_name))
  })
})

describe('methods and paths', () => {
  test.each([
    ['DELETE', '/public/agents', 'GET, HEAD, OPTIONS'],
    ['GET', '/a2a/message', 'OPTIONS, POST'],
    ['GET', '/api/agents/search', 'OPTIONS, POST'],
    ['PATCH', '/api/agents/com.example.x', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ['GET', '/a2a/v1', 'OPTIONS, POST'],
  ])('%s %s is 405 and allows %s', async (method, path, allow) => {
    const { status, headers, json } = await home.request(method, path)
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe(allow)
    expect(json.code).toBe('method_not_allowed')
  })

  test.each(['/nowhere', '/public/agents/a/b', '/API/agents', '/%E0%A4%A', '/public/agents/%E0%A4%A'])(
    '%s is a problem and never HTML',
    async (path) => {
      const { status, headers, json } = await home.request('GET', path)
      expect([400, 404]).toContain(status)
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(json.code).toMatch(/not_found|invalid_request/)
    },
  )

  test('HEAD has the headers of GET and no body', async () => {
    const get = await home.request('GET', '/public/agents')
    const head = await home.request('HEAD', '/public/agents')
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    for (const name of ['etag', 'content-length', 'content-type'])
      expect(head.headers.get(name)).toBe(get.headers.get(name))
  })

  test('the request id of the caller is returned, and a new one for an invalid one', async () => {
    const named = await home.request('GET', '/nowhere', { headers: { 'X-Request-Id': 'abc-1' } })
    expect(named.json.instance).toBe('abc-1')
    const unnamed = await home.request('GET', '/nowhere', { headers: { 'X-Request-Id': 'a b' } })
    expect(unnamed.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('caching', () => {
  test('a list answers 304 until something is published', async () => {
    const token = await home.token('owner')
    const first = await home.request('GET', '/public/agents')
    const headers = { 'If-None-Match': first.headers.get('etag') ?? '' }
    expect((await home.request('GET', '/public/agents', { headers })).status).toBe(304)
    const body = {
      package_name: 'com.cache.agent',
      name: 'A',
      description: 'B',
      endpoints: [{ protocol: 'mcp', url: 'https://example.com/mcp' }],
    }
    await home.request('POST', '/api/agents/publish', { token, body })
    expect((await home.request('GET', '/public/agents', { headers })).status).toBe(200)
  })

  test('If-Match lets one of two writers win', async () => {
    const token = await home.token('owner')
    const before = await home.request('GET', '/api/agents/com.cache.agent', { token })
    const headers = { 'If-Match': before.headers.get('etag') ?? '' }
    const change = (name: string) =>
      home.request('PUT', '/api/agents/com.cache.agent', { token, headers, body: { name } })
    expect((await change('First')).status).toBe(200)
    const overtaken = await change('Second')
    expect(overtaken.status).toBe(412)
    expect(overtaken.json.code).toBe('precondition_failed')
    expect((await home.request('GET', '/api/agents/com.cache.agent', { token })).json.name).toBe('First')
    const junk = await home.request('PUT', '/api/agents/com.cache.agent', {
      token,
      headers: { 'If-Match': '"junk"' },
      body: {},
    })
    expect(junk.status).toBe(412)
  })

  test.each(['W/"abc"', 'abc', ''])(
    'If-Match: %s, which no entry can meet, is told so instead of to read it again',
    async (condition) => {
      const { status, json } = await home.request('PUT', '/api/agents/com.cache.agent', {
        token: await home.token('owner'),
        headers: { 'If-Match': condition },
        body: { name: 'Third' },
      })
      expect([status, json.code]).toEqual([412, 'precondition_failed'])
      expect(json.hint).toBe('Send the ETag as it was read: in quotes, without W/ before them.')
    },
  )

  test('a condition is weighed last: after the token, the body and the ownership', async () => {
    const headers = { 'If-Match': '"junk"' }
    const put = (token: string | undefined, body: unknown) =>
      home.request('PUT', '/api/agents/com.cache.agent', { token, headers, body })
    expect((await put(undefined, {})).status).toBe(401)
    expect((await put(await home.token('somebody else'), {})).status).toBe(404)
    expect((await put(await home.token('owner'), { nmae: 'X' })).status).toBe(400)
    expect((await put(await home.token('owner'), {})).status).toBe(412)
  })

  test('only If-Match states the revision that a change expects', async () => {
    const token = await home.token('owner')
    const body = { expected_revision: 1 }
    const { status, json } = await home.request('PUT', '/api/agents/com.cache.agent', { token, body })
    expect(status).toBe(400)
    expect(json.errors[0].pointer).toBe('/expected_revision')
  })

  test('a name that would change is a conflict', async () => {
    const token = await home.token('owner')
    const body = { package_name: 'com.cache.other' }
    const { status, json } = await home.request('PUT', '/api/agents/com.cache.agent', { token, body })
    expect([status, json.code]).toEqual([409, 'conflict'])
  })
})

describe('errors', () => {
  test('name operations of REST in their hints, not actions of other protocols', async () => {
    const token = await home.token('owner')
    const hintAt = async (path: string) => (await home.request('GET', path, { token })).json.hint
    expect(await hintAt('/public/agents/zzz.qqq')).toBe('GET /public/agents finds agents by what they do.')
    expect(await hintAt('/api/webhooks/nothing')).toBe('GET /api/webhooks lists yours.')
    const body = { package_name: 'com.cache.agent', name: 'X', description: 'X.', capabilities }
    const taken = await home.request('POST', '/api/agents/publish', { token, body })
    expect(taken.json.hint).toContain('Change com.cache.agent with PUT /api/agents/AGENT.')
    const envelope = { to: 'svc.registry', action: 'get_agent', params: { agent: 'zzz.qqq' } }
    const sent = await home.request('POST', '/a2a/message', { body: envelope })
    expect(sent.json.hint).toBe('search_agents finds agents by what they do.')
  })

  test('for want of a token or a scope say how to get one', async () => {
    const without = [
      await home.request('GET', '/public/agents?mine=true'),
      await home.request('POST', '/api/agents/validate', { body: { manifest_url: 'https://example.com/' } }),
      await home.request('GET', '/api/webhooks'),
    ]
    for (const { status, json } of without)
      expect([status, json.hint]).toEqual([401, expect.stringContaining('dragoman token create')])
    const token = await home.token('reader', { scopes: ['agents:read'] })
    const { status, json } = await home.request('GET', '/api/webhooks', { token })
    expect([status, json.hint]).toEqual([403, expect.stringContaining('token create --scope agents:write')])
  })

  test('of a misspelled part of an agent name the right path', async () => {
    const { json } = await home.request('POST', '/api/agents/com.cache.agent/golive')
    expect(json).toMatchObject({ status: 404, nearest: ['/api/agents/com.cache.agent/go-live'] })
    expect(json.hint).toBeUndefined()
  })

  test.each([
    ['GET', '/public/agents/com.cache/agent', '/public/agents/com.cache%2Fagent'],
    ['POST', '/api/agents/com.cache/agent/go-live', '/api/agents/com.cache%2Fagent/go-live'],
  ])(
    'of a package name whose slash is not encoded give the right path: %s %s',
    async (method, path, right) => {
      const { status, json } = await home.request(method, path)
      expect([status, json.hint]).toEqual([404, expect.stringContaining(` as %2F: ${right}. `)])
    },
  )

  test.each([
    ['/a2a', '/a2a/v1/.well-known/agent-card.json'],
    ['/sse', '/mcp (Streamable HTTP)'],
  ])('of the guessed address %s say where its protocol is', async (path, place) => {
    const { status, json } = await home.request('POST', path, { body: {} })
    expect([status, json.hint]).toEqual([404, expect.stringContaining(place)])
  })

  test('of a publication that is sent to be validated as it is say where it belongs', async () => {
    const body = { package_name: 'com.example.x', name: 'X', description: 'X.', capabilities }
    const { status, json } = await home.request('POST', '/api/agents/validate', { body })
    expect(status).toBe(400)
    expect(json.detail).toContain('such as {"publication": ')
    const inside = await home.request('POST', '/api/agents/validate', { body: { publication: body } })
    expect(inside).toMatchObject({ status: 200, json: { valid: true } })
  })

  test('of an entry that is sent back as it was read say which fields a change takes', async () => {
    const token = await home.token('owner')
    const { json: body } = await home.request('GET', '/api/agents/com.cache.agent', { token })
    const { status, json } = await home.request('PUT', '/api/agents/com.cache.agent', { token, body })
    expect([status, json.hint]).toEqual([400, expect.stringContaining('description, capabilities')])
  })

  test.each([
    ['callable', 'opn', 'Give one of hosted, open'],
    ['tags', '', 'Give at least 1 character.'],
    ['tags', 5, 'Give a list such as ["text"], not a number.'],
  ])('of a filter by several values, %s, name the filter', async (name, value, detail) => {
    const body = { query: 'weather', filters: { [name]: value } }
    const { status, json } = await home.request('POST', '/api/agents/search', { body })
    const errors = [{ pointer: `/filters/${name}`, detail: expect.stringContaining(detail) }]
    expect([status, json.errors]).toEqual([400, errors])
  })
})

test.each([
  ['tags', 'test'],
  ['labels', 'test'],
  ['callable', 'hosted'],
])('a filter by several values, %s, takes one text in a body as in a query', async (name, value) => {
  const found = async (method: string, path: string, body?: object) => {
    const { json } = await home.request(method, path, body && { body })
    return (json.result ?? json).agents
      .map((agent: { package_name: string }) => agent.package_name)
      .toSorted()
  }
  const inQuery = await found('GET', `/public/agents?q=search&limit=20&${name}=${value}`)
  expect(inQuery).toContain('svc.utility.wiki')
  const params = (filter: unknown) => ({ query: 'search', limit: 20, filters: { [name]: filter } })
  const request = { jsonrpc: '2.0', id: 1, method: 'registry.search', params: params(value) }
  expect(await found('POST', '/rpc', request)).toEqual(inQuery)
  const envelope = { to: 'svc.registry', action: 'search', params: params([value]) }
  expect(await found('POST', '/a2a/message', envelope)).toEqual(inQuery)
})

const envelopeTo = (action: string, params: object) => ({
  method: 'POST',
  path: '/a2a/message',
  body: { to: 'svc.registry', action, params },
})

test.each(
  ['get_agent', 'get_card', 'list_versions', 'resolve_package', 'get_liveness_history'].flatMap((action) =>
    ['agent', 'package_name', 'id', 'name', 'identifier', 'to'].map((field) => [action, field] as const),
  ),
)('%s takes the name of the agent as %s', async (action, field) => {
  const { method, path, body } = envelopeTo(action, { [field]: 'svc.utility.wiki' })
  expect(await home.request(method, path, { body })).toMatchObject({ status: 200 })
})

test('rpc.cancel over HTTP is answered with where it works', async () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'rpc.cancel', params: { id: 1 } }
  const { json } = await home.request('POST', '/rpc', { body })
  const hint = expect.stringContaining('close the connection')
  expect([json.error.code, json.error.data.hint]).toEqual([-32601, hint])
})

test.each([
  [
    { agent: 'svc.utility.wiki', package_name: 'svc.utility.wiki' },
    '/package_name: agent and package_name mean',
  ],
  [{ agent: 'svc.utility.wiki', name: 'wiki' }, '/name: There is no such field.'],
  [{ reference: 'svc.utility.wiki' }, '/agent: This field is required.'],
])('an agent that is named %j is refused', async (params, detail) => {
  const { method, path, body } = envelopeTo('get_agent', params)
  const { status, json } = await home.request(method, path, { body })
  expect([status, json.detail]).toEqual([400, expect.stringContaining(detail)])
})

test('a field of its own is no other name of an agent', async () => {
  const token = await home.token('renamer', { namespaces: ['com.renamer'] })
  const publication = { package_name: 'com.renamer.one', name: 'One', description: 'One.', capabilities }
  await home.request('POST', '/api/agents/publish', { token, body: publication })
  const { method, path, body } = envelopeTo('update', { agent: 'com.renamer.one', name: 'Two' })
  expect(await home.request(method, path, { token, body })).toMatchObject({
    status: 200,
    json: { name: 'Two' },
  })
  const nameless = envelopeTo('update', { name: 'Three' })
  const { json } = await home.request(method, path, { token, body: nameless.body })
  expect(json.detail).toBe('/agent: This field is required.')
})

describe('browsers', () => {
  test('any page may read public resources only', async () => {
    const open = await home.request('OPTIONS', '/public/agents', {
      headers: { Origin: 'https://page.example', 'Access-Control-Request-Method': 'GET' },
    })
    expect(open.status).toBe(204)
    expect(open.headers.get('access-control-allow-origin')).toBe('*')
    const closed = await home.request('OPTIONS', '/api/agents/publish', {
      headers: { Origin: 'https://page.example' },
    })
    expect(closed.headers.get('access-control-allow-origin')).toBeNull()
    const refused = await home.request('GET', '/public/agents?limit=0')
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('documents and health', () => {
  test('the OpenAPI document has every row, its schemas whole', async () => {
    const { json } = await home.request('GET', '/openapi.json')
    expect(json.openapi).toBe('3.1.0')
    expect(Object.keys(json.paths)).toContain('/api/agents/{agent}/go-live')
    const list: { $ref?: string }[] = json.paths['/public/agents'].get.parameters
    expect(list.map(({ $ref }) => $ref)).toContain('#/components/parameters/limit')
    expect(json.components.parameters.limit.schema).toMatchObject({
      default: 20,
      maximum: 100,
    })
    expect(json.paths['/a2a/discover'].post.security).toEqual([{ bearer: [] }, { oauth: ['agents:read'] }])
    expect(json.components.schemas.ReadPageBody.required).toEqual(['input'])
  })

  test('/llms.txt says how to authenticate, to read errors and to read pages', async () => {
    const { text } = await home.request('GET', '/llms.txt')
    for (const word of ['Authorization: Bearer', `${home.url}/docs/errors`, 'next_cursor', '/openapi.json'])
      expect(text).toContain(word)
  })

  test.each(['/', '/llms.txt', '/healthz', '/readyz'])('%s answers', async (path) => {
    const { status, text } = await home.request('GET', path)
    expect(status).toBe(200)
    expect(text.length).toBeGreaterThan(10)
  })

  test('metrics count each call once', async () => {
    const count = async () => {
      const { text } = await home.request('GET', '/metrics')
      return Number(
        /dragoman_call_seconds_count\{to="svc.registry",action="get_card",code="ok"\} (\d+)/.exec(
          text,
        )?.[1] ?? 0,
      )
    }
    const before = await count()
    await home.request('GET', '/.well-known/agent-card.json')
    expect(await count()).toBe(before + 1)
  })
})

test('metrics are refused through a proxy on loopback', async () => {
  const { status } = await home.request('GET', '/metrics', { headers: { 'X-Forwarded-For': '203.0.113.5' } })
  expect(status).toBe(403)
})

test('garbage on the wire is 400 and the server goes on', async () => {
  const socket = connect(Number(new URL(home.url).port), '127.0.0.1')
  socket.end('THIS IS NOT HTTP\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1.1 400/)
  expect((await home.request('GET', '/healthz')).status).toBe(200)
})
