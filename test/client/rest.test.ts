import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { digestLine, restDocument } from '../../scripts/rest-client/document.ts'
import { createClient, dataOf, ProblemError } from '../../src/client/rest/index.ts'
import { serve } from '../net/support.ts'
import { startGateway } from '../support/gateway.ts'
import { publication } from '../transports/cases.ts'

const home = await startGateway()
const token = await home.token('rest', { namespaces: ['com.rest'] })
const client = createClient({ url: home.url, token })
afterAll(() => home[Symbol.asyncDispose]())

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('the REST client', () => {
  test('has the types of the OpenAPI document that the gateway serves', () => {
    const [line] = readFileSync(new URL('../../src/client/rest/schema.ts', import.meta.url), 'utf8').split(
      '\n',
    )
    expect(line, 'Run node scripts/rest-client/generate.ts.').toBe(
      digestLine(restDocument(home.gateway.agents)),
    )
  })

  test('publishes, reads, changes and deletes an agent', async () => {
    const made = await dataOf(client.POST('/api/agents/publish', { body: publication('com.rest.weather') }))
    expect(made.state).toBe('STAGE')
    const params = { path: { agent: made.id } }
    await client.POST('/api/agents/{agent}/go-live', { params })
    const read = await dataOf(client.GET('/public/agents/{agent}', { params }))
    expect(read.package_name).toBe('com.rest.weather')
    const body = { description: 'Another description.' }
    expect((await dataOf(client.PUT('/api/agents/{agent}', { params, body }))).description).toBe(
      body.description,
    )
    const { response } = await client.DELETE('/api/agents/{agent}', { params })
    expect(response.status).toBe(204)
  })

  test('rejects with the code and the fields of a refusal', async () => {
    const refusal = await client
      .GET('/public/agents', { params: { query: { limit: 0 } } })
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ProblemError)
    expect(refusal).toMatchObject({
      status: 400,
      code: 'invalid_request',
      problem: { errors: [{ pointer: '/limit' }] },
    })
    const { request_id, message, problem } = refusal as ProblemError
    expect([request_id, message]).toEqual([problem?.instance, problem?.detail])
  })

  test('rejects with the status alone if the answer is no problem of the gateway', async () => {
    await using proxy = await serve((_, response) => response.writeHead(502).end('<html>Bad gateway</html>'))
    const refusal = await createClient({ url: proxy.origin })
      .GET('/healthz')
      .catch((error: unknown) => error)
    expect(refusal).toMatchObject({ name: 'ProblemError', status: 502, code: undefined, problem: undefined })
  })

  test('iterates over all pages of a search, of changes and of versions', async () => {
    for (const name of ['a', 'b', 'c']) {
      const agent = await dataOf(
        client.POST('/api/agents/publish', { body: publication(`com.rest.pages-${name}`) }),
      )
      await client.POST('/api/agents/{agent}/go-live', { params: { path: { agent: agent.id } } })
    }
    const names: string[] = []
    for await (const { package_name } of client.searchAll({ mine: true, limit: 1, sort: 'name' }))
      names.push(package_name)
    expect(names).toEqual(['com.rest.pages-a', 'com.rest.pages-b', 'com.rest.pages-c'])
    const changed: string[] = []
    for await (const change of client.changesAll({ limit: 1 })) changed.push(change.package_name)
    expect(changed).toEqual(expect.arrayContaining(names))
    const versions = await collect(client.versionsAll('com.rest.pages-a'))
    expect(versions).toHaveLength(1)
    const events = await collect(client.auditAll('com.rest.pages-a'))
    expect(events.map(({ action }) => action)).toEqual(['go_live', 'publish'])
    expect(await collect(client.transfersAll())).toEqual([])
  })

  test('types a page of a search by the detail that it asks for', async () => {
    const full = await client.search({ q: 'encyclopedia' })
    expect(full.agents[0]?.id).toEqual(expect.any(String))
    const brief = await client.search({ q: 'encyclopedia', detail: 'brief' })
    // @ts-expect-error A brief hit has no id.
    expect(brief.agents[0]?.id).toBeUndefined()
    expect(brief.agents[0]?.package_name).toBe('svc.utility.wiki')
  })

  test('ends an iteration and a call by their signal', async () => {
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    await expect(client.searchAll({}, signal).next()).rejects.toBe(reason)
    await expect(client.GET('/public/agents', { signal })).rejects.toBe(reason)
  })

  test('asks for the current token before each call', async () => {
    const tokens = ['bad', await home.token('later')]
    const later = createClient({ url: home.url, token: () => tokens.shift() ?? '' })
    await expect(later.GET('/api/usage')).rejects.toMatchObject({ code: 'unauthenticated' })
    expect((await later.GET('/api/usage')).response.status).toBe(200)
  })

  test('refuses an address that holds a token', () => {
    expect(() => createClient({ url: `${home.url}?access_token=x` })).toThrow('must not hold a token')
  })
})

describe('a refused call', () => {
  const get = (url: string, options = {}) => createClient({ url, ...options }).GET('/healthz')
  const post = (url: string, headers: Record<string, string> = {}) =>
    createClient({ url }).POST('/api/playground/session', { headers })

  test.each([
    ['429 with Retry-After', 429, '0', get, 3],
    ['503 with Retry-After', 503, '0', get, 3],
    ['429 without Retry-After', 429, undefined, get, 1],
    ['500', 500, '0', get, 1],
    ['429 that asks for an hour', 429, '3600', get, 1],
    ['429 of a POST, which has not begun', 429, '0', post, 3],
    ['503 of a POST, which may have run', 503, '0', post, 1],
    [
      '503 of a POST with an Idempotency-Key',
      503,
      '0',
      (url: string) => post(url, { 'Idempotency-Key': 'k' }),
      3,
    ],
    ['429 without retries', 429, '0', (url: string) => get(url, { retries: 0 }), 1],
  ] as const)('%s is sent the right number of times', async (_, status, after, call, times) => {
    let count = 0
    await using server = await serve((_request, response) => {
      count++
      response.writeHead(status, after === undefined ? {} : { 'Retry-After': after }).end()
    })
    await expect(call(server.origin)).rejects.toMatchObject({ status })
    expect(count).toBe(times)
  })

  test('is answered when a later attempt succeeds, with the same body', async () => {
    const bodies: string[] = []
    await using server = await serve(async (request, response) => {
      bodies.push(await new Response(request as never).text())
      if (bodies.length === 1) response.writeHead(429, { 'Retry-After': '0' }).end()
      else response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"agents":[]}')
    })
    const body = { query: 'weather' }
    const { data } = await createClient({ url: server.origin }).POST('/api/agents/search', { body })
    expect(data).toEqual({ agents: [] })
    expect(bodies).toEqual([JSON.stringify(body), JSON.stringify(body)])
  })

  test('stops waiting when its signal aborts', async () => {
    const controller = new AbortController()
    await using server = await serve((_, response) => {
      response.writeHead(429, { 'Retry-After': '20' }).end()
      setImmediate(() => controller.abort(new Error('enough')))
    })
    const { signal } = controller
    await expect(createClient({ url: server.origin }).GET('/healthz', { signal })).rejects.toThrow('enough')
  })
})
