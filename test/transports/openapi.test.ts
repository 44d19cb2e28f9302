import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, describe, expect, test } from 'vitest'
import { codes } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { tags } from '../../src/transports/http/route.ts'
import { routes } from '../../src/transports/http/routes.ts'
import { startGateway } from '../support/gateway.ts'

const home = await startGateway()
const document = (await home.request('GET', '/openapi.json')).json
afterAll(() => home[Symbol.asyncDispose]())

type Table = (typeof routes)[number]
const shape = (path: string) => path.replace(/:\w+|\{\w+\}/g, ':')

// biome-ignore lint/suspicious/noExplicitAny: as above
function operationOf({ method, path }: Pick<Table, 'method' | 'path'>): any {
  const key = Object.keys(document.paths).find((candidate) => shape(candidate) === shape(path))
  return document.paths[key ?? '']?.[method]
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function* operations(of = document): Generator<any> {
  for (const item of Object.values(of.paths)) yield* Object.values(item as object)
}

function* references(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const candidate of value) yield* references(candidate)
  if (!isRecord(value)) return
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') yield inner
    else yield* references(inner)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function resolved(value: any): any {
  return value.$ref ? at(value.$ref) : value
}

function at(pointer: string, of: unknown = document): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), of)
}

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
    const broken = structuredClone(document)
    delete broken.paths['/public/agents'].get.responses[200].description
    expect((await new Validator().validate(broken)).valid).toBe(false)
  })

  test('has one path for what no server can tell apart', () => {
    const shapes = Object.keys(document.paths).map(shape)
    expect(new Set(shapes).size).toBe(shapes.length)
  })

  test('names every operation once and contains no broken reference', () => {
    const ids = [...operations()].map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const all = [...references(document)]
    expect(all.length).toBeGreaterThan(100)
    expect(all.filter((pointer) => at(pointer) === undefined)).toEqual([])
    const linked = [...operations()].flatMap(({ responses }) =>
      // biome-ignore lint/suspicious/noExplicitAny: as above
      Object.values<any>(responses).flatMap(({ links }) => Object.values<any>(links ?? {}).map(resolved)),
    )
    expect(linked.filter(({ operationId }) => !ids.includes(operationId))).toEqual([])
  })
})

describe('a part of the OpenAPI document', () => {
  test.each(Object.keys(tags))(
    '%s is valid, has no operation of another tag, and leads nowhere else',
    async (tag) => {
      const { status, json } = await home.request('GET', `/openapi.json?tags=${tag.toLowerCase()}`)
      expect(status).toBe(200)
      expect(await new Validator().validate(structuredClone(json))).toEqual({ valid: true })
      const chosen = [...operations(json)]
      const all = [...operations()].filter((operation) => operation.tags.includes(tag))
      expect(chosen.map(({ operationId }) => operationId)).toEqual(all.map(({ operationId }) => operationId))
      expect(json.tags.map(({ name }: { name: string }) => name)).toEqual([tag])
      expect([...references(json)].filter((pointer) => at(pointer, json) === undefined)).toEqual([])
      const links = chosen.flatMap(({ responses }) =>
        Object.values<{ links?: object }>(responses).flatMap(({ links = {} }) => Object.keys(links)),
      )
      const ids = chosen.map(({ operationId }) => operationId)
      expect(links.filter((id) => !ids.includes(id))).toEqual([])
      const unused = Object.entries<object>(json.components).flatMap(([kind, members]) =>
        Object.keys(members).map((name) => `#/components/${kind}/${name}`),
      )
      const used = new Set(references(json))
      expect(
        unused.filter((pointer) => !used.has(pointer) && !pointer.includes('/securitySchemes/')),
      ).toEqual([])
    },
  )

  test('may have several tags, in any order and by repetition', async () => {
    const texts = await Promise.all(
      ['tags=Search,Calling', 'tags=calling&tags=search'].map(
        async (query) => (await home.request('GET', `/openapi.json?${query}`)).text,
      ),
    )
    expect(texts[1]).toBe(texts[0])
    expect(Object.keys(JSON.parse(texts[0] ?? '').paths)).toEqual(
      expect.arrayContaining(['/public/agents', '/a2a/message']),
    )
  })

  test('names the nearest tag when a tag does not exist', async () => {
    const answer = await home.request('GET', '/openapi.json?tags=Serch')
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_request', nearest: ['Search'] } })
    expect((await home.request('GET', '/openapi.json?tag=Search')).json).toMatchObject({ nearest: ['tags'] })
  })
})

describe('every row of the table', () => {
  test.each(routes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const))(
    '%s',
    (_, route) => {
      const operation = operationOf(route)
      const { responses, requestBody, security } = operation
      const declared = Object.keys(responses).map(Number)
      const always = [
        'invalid_request',
        'unauthenticated',
        'rate_limited',
        'internal',
        'unavailable',
      ] as const
      const bodies = route.body ? (['too_large', 'unsupported_media_type'] as const) : []
      const conditions = route.conditional ? (['precondition_failed'] as const) : []
      const expected = [...always, ...bodies, ...conditions].map((code) => codes[code].http)
      expect(declared).toEqual(expect.arrayContaining([route.status ?? 200, ...expected]))
      expect(Object.keys(responses)).not.toContain('default')
      if (requestBody) expect(route.body).toBeDefined()
      expect(security).toContainEqual({ bearer: [] })
      const parameters = operation.parameters.map(resolved)
      const inPath = parameters.filter((candidate: { in: string }) => candidate.in === 'path')
      expect(inPath).toHaveLength(Object.keys(route.parameters ?? {}).length)
      for (const { schema } of inPath)
        expect(resolved(schema)).toMatchObject({ type: 'string', minLength: 1 })
      const inQuery = parameters.filter((candidate: { in: string }) => candidate.in === 'query')
      expect(inQuery).toHaveLength(Object.keys(route.query ?? {}).length)
    },
  )

  test('states the headers that its answers have', () => {
    const publish = operationOf({ method: 'post', path: '/api/agents/publish' })
    expect(Object.keys(publish.responses[201].headers)).toEqual(
      expect.arrayContaining(['ETag', 'Location', 'RateLimit', 'X-Request-Id']),
    )
    const { responses } = document.components
    expect(Object.keys(responses[401].headers)).toContain('WWW-Authenticate')
    expect(Object.keys(responses[429].headers)).toEqual(
      expect.arrayContaining(['RateLimit', 'RateLimit-Policy', 'Retry-After']),
    )
    expect(Object.keys(responses[404].content)).toEqual(['application/problem+json'])
  })

  test('states the media types that its answers have', () => {
    const typesOf = (method: 'get' | 'post', path: string) =>
      Object.keys(operationOf({ method, path }).responses[200].content)
    expect(typesOf('get', '/api/playground/session/:session')).toEqual([
      'application/json',
      'text/event-stream',
    ])
    expect(typesOf('post', '/api/playground/session/:session/execute')).toEqual([
      'application/json',
      'text/event-stream',
    ])
    expect(typesOf('get', '/api/playground/session/:session/export')).toEqual([
      'text/x-shellscript',
      'application/typescript',
      'application/x-ndjson',
    ])
    expect(typesOf('get', '/api/agents')).toEqual(['application/json'])
  })

  test('a published agent leads to reading, changing, publishing and deleting it', () => {
    const { links } = operationOf({ method: 'post', path: '/api/agents/publish' }).responses[201]
    const next = Object.keys(links)
    for (const [method, path] of [
      ['get', '/api/agents/:agent'],
      ['put', '/api/agents/:agent'],
      ['delete', '/api/agents/:agent'],
      ['post', '/api/agents/:agent/go-live'],
      ['post', '/api/agents/:agent/unpublish'],
    ] as const)
      expect(next).toContain(operationOf({ method, path }).operationId)
    const change = resolved(links.updateAgent)
    expect(Object.values(change.parameters)).toEqual(['$response.body#/id', '$response.header.ETag'])
  })
})

describe('an answer is as declared', () => {
  test.each([
    ['GET', '/public/agents', 200],
    ['GET', '/public/agents?limit=0', 400],
    ['GET', '/api/agents/nobody', 404],
    ['POST', '/api/agents/publish', 401],
    ['POST', '/api/agents/search', 400],
  ] as const)('%s %s: %i', async (method, path, status) => {
    const answer = await home.request(method, path, { ...(method === 'POST' && { body: {} }) })
    expect(answer.status).toBe(status)
    const [pathname = ''] = path.split('?')
    const template = Object.keys(document.paths).find((candidate) =>
      new RegExp(`^${candidate.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
    )
    const operation = document.paths[template ?? ''][method.toLowerCase()]
    const { $ref, ...own } = operation.responses[status]
    const { headers, content } = $ref ? (at($ref) as typeof own) : own
    expect(Object.keys(content)).toEqual([answer.headers.get('content-type')])
    const required = Object.entries(headers).filter(([, header]) => resolved(header).required)
    for (const [name] of required) expect(answer.headers.get(name), name).not.toBeNull()
  })
})

test('every header that an answer to an envelope has for its caller is declared', async () => {
  const params = { query: 'read a web page', limit: 1 }
  const body = { to: 'svc.registry', action: 'search', params, message_id: 'm-1', reply_to: 'someone' }
  const { status, headers } = await home.request('POST', '/a2a/message', { body })
  expect(status).toBe(200)
  const declared = operationOf({ method: 'post', path: '/a2a/message' }).responses[200].headers
  const own = [...headers.keys()].filter((name) => /^(?:x-(?!content-type)|ratelimit)/.test(name))
  expect(own).toContain('x-message-id')
  const names = Object.keys(declared).map((name) => name.toLowerCase())
  expect(names).toEqual(expect.arrayContaining([...own, 'x-content-trust', 'deprecation']))
})

describe('a body', () => {
  const isRequired = (path: string, method: 'post' | 'put' = 'post') =>
    operationOf({ method, path }).requestBody.required

  test('without which a call fails is required', async () => {
    for (const path of ['/api/agents/publish', '/api/agents/validate', '/api/agents/search'])
      expect(isRequired(path), path).toBe(true)
    expect((await home.request('POST', '/api/agents/validate')).status).toBe(400)
  })

  test('of which each field may be left out is not', () => {
    expect(isRequired('/api/agents/:agent', 'put')).toBe(false)
    expect(isRequired('/api/agents/:agent/verify')).toBe(false)
  })
})

describe('what is created', () => {
  const capabilities = [{ name: 'make', description: 'Makes.' }]
  const agent = { package_name: 'com.example.made', name: 'Made', description: 'It is made.', capabilities }

  test.each([
    ['/api/agents/publish', agent],
    ['/api/webhooks', { url: 'https://example.com/hook' }],
    ['/api/playground/session', {}],
  ])('by POST %s is at the address in Location', async (path, body) => {
    const { headers } = operationOf({ method: 'post', path }).responses[201]
    expect(resolved(headers.Location)).toMatchObject({ required: true })
    const token = await home.token('ada')
    const made = await home.request('POST', path, { token, body })
    const location = made.headers.get('location') ?? ''
    expect(made).toMatchObject({ status: 201 })
    const read = await home.request('GET', location, { token })
    expect(read).toMatchObject({ status: 200, json: { id: made.json.id } })
  })
})

test('an address in a header has the path of the base URL', async () => {
  await using behind = await startGateway({ DRAGOMAN_BASE_URL: 'https://proxy.example/registry' })
  const token = await behind.token('ada')
  const made = await behind.request('POST', '/api/webhooks', { token, body: { url: 'https://example.com/' } })
  expect(made.headers.get('location')).toBe(`/registry/api/webhooks/${made.json.id}`)
  const capabilities = [{ name: 'make', description: 'Makes.' }]
  for (const package_name of ['com.example.old', 'com.example.new']) {
    const body = { package_name, name: 'Made', description: 'It is made.', capabilities }
    await behind.request('POST', '/api/agents/publish', { token, body })
    await behind.request('POST', `/api/agents/${package_name}/go-live`, { token })
  }
  const body = { successor: 'com.example.new' }
  const { headers } = await behind.request('POST', '/api/agents/com.example.old/deprecate', { token, body })
  expect(headers.get('link')).toBe('</registry/public/agents/com.example.new>; rel="successor-version"')
})

describe('a notification', () => {
  test.each([
    ['/rpc', { jsonrpc: '2.0', method: 'registry.search_agents', params: {} }],
    ['/a2a/v1', { jsonrpc: '2.0', method: 'GetTask', params: {} }],
    ['/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }],
  ])('at %s is answered by the status that the document states', async (path, body) => {
    const { responses } = operationOf({ method: 'post', path })
    const headers = { Accept: 'application/json, text/event-stream' }
    const { status } = await home.request('POST', path, { body, headers })
    expect(Object.keys(responses).filter((stated) => /^2/.test(stated))).toEqual(['200', String(status)])
  })
})

describe('a query parameter', () => {
  const parameter = (path: string, name: string) =>
    operationOf({ method: 'get', path })
      .parameters.map(resolved)
      .find((candidate: { name: string }) => candidate.name === name)

  test('that the action needs is required, and may not be empty', async () => {
    const path = '/api/playground/session/:session/export'
    expect(parameter(path, 'format')).toMatchObject({ required: true })
    expect(parameter(path, 'format')).not.toHaveProperty('allowEmptyValue')
    const { json } = await home.request('POST', '/api/playground/session')
    const answer = await home.request('GET', `/api/playground/session/${json.id}/export?format=`)
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
  })

  test('with a default of its own at a path states no other one', () => {
    const { schema } = parameter('/public/agents', 'limit')
    expect(schema).toMatchObject({ default: 20, description: 'Maximum number of agents, 1 to 100.' })
  })

  test('that may be left out may be empty', async () => {
    expect(parameter('/public/agents', 'q')).toMatchObject({ allowEmptyValue: true })
    expect(parameter('/public/agents', 'q')).not.toHaveProperty('required')
    expect((await home.request('GET', '/public/agents?q=')).status).toBe(200)
  })
})
