import type { ServerResponse } from 'node:http'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { createMcpConnect } from '../../src/remote/mcp/mcp.ts'
import { rejection } from '../net/support.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { agentAt, eventually } from '../support/mcp-agent.ts'
import {
  answerJson,
  begun,
  event,
  events,
  type Misbehave,
  nothing,
  untilCalled,
} from '../support/mcp-answers.ts'
import {
  type Answer,
  type McpServer,
  startHostileServer,
  startModernServer,
  startSessionServer,
  startSocketServer,
  startSseServer,
} from '../support/mcp-servers.ts'

const methods = ({ seen }: McpServer) => seen.map(({ method, rpc }) => rpc ?? method)

/** A server of the 2025 era, written by hand, that initialises as configured. */
const plain =
  (begin: Misbehave): Misbehave =>
  (request, response, body) => {
    if (body?.method === 'initialize') return begin(request, response, body)
    if (body?.method === 'tools/call') return answerJson(response, body, { result: { content: [] } })
    response.writeHead(body && body.id === undefined ? 202 : 400).end()
  }

/** A server that talks, during a call, on the stream of what is tied to no call, and answers once that stream is closed. */
function startTalking(talk: (stream: ServerResponse) => void): Promise<McpServer> {
  let stream: ServerResponse | undefined
  return startHostileServer((request, response, body) => {
    response.setHeader('mcp-session-id', 's')
    if (request.method === 'GET') {
      stream = response.writeHead(200, events)
      stream.flushHeaders()
      return
    }
    const answer = () => plain(() => answerJson(response, body, { result: begun }))(request, response, body)
    if (body?.method !== 'tools/call') return answer()
    stream?.once('close', answer)
    if (stream) talk(stream)
  })
}

describe('a server of 2026-07-28', () => {
  test('has its revision detected once; after that a call is one request', async () => {
    await using server = await startModernServer()
    await using remote = agentAt(server.url)
    await remote.ask('echo')
    await remote.ask('echo', {}, { caller: 'bob' })
    await remote.ask('echo')
    expect(methods(server)).toEqual(['server/discover', 'tools/call', 'tools/call', 'tools/call'])
  })

  test('is probed by one request, which also detects the revision', async () => {
    await using server = await startModernServer()
    await using remote = agentAt(server.url)
    await remote.agent.probe(remote.call())
    await remote.ask('echo')
    expect(methods(server)).toEqual(['server/discover', 'tools/call'])
  })

  test('receives the params in headers that its tool wants, without listing the tools each time', async () => {
    const region = { type: 'string', 'x-mcp-header': 'Region' }
    await using server = await startModernServer({
      tools: [{ name: 'echo', inputSchema: { type: 'object', properties: { region } } }],
    })
    await using remote = agentAt(server.url)
    await remote.agent.describe?.(remote.call())
    await remote.ask('echo', { region: 'north' })
    expect(server.seen.at(-1)?.headers['mcp-param-region']).toBe('north')
    expect(methods(server)).toEqual(['server/discover', 'tools/list', 'tools/call'])
  })

  test('receives the params in the headers of the list that it shows this caller, whatever others see', async () => {
    const wants = (header: string) => ({
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': header } },
    })
    await using server = await startHostileServer(
      untilCalled((request, response, body) => {
        if (body.method === 'tools/call') return answerJson(response, body, { result: nothing })
        const header = request.headers.authorization === 'Bearer bob' ? 'Zone' : 'Region'
        const tools = [{ name: 'echo', inputSchema: wants(header) }]
        answerJson(response, body, {
          result: { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' },
        })
      }),
    )
    await using remote = agentAt(server.url)
    const bob = { caller: 'bob', headers: { authorization: 'Bearer bob' } }
    await remote.agent.describe?.(remote.call())
    await remote.agent.describe?.(remote.call(bob))
    await remote.ask('echo', { region: 'north' })
    expect(server.seen.at(-1)?.headers).toMatchObject({ 'mcp-param-region': 'north' })
    await remote.ask('echo', { region: 'north' }, bob)
    expect(server.seen.at(-1)?.headers).toMatchObject({ 'mcp-param-zone': 'north' })
  })
})

describe('sessions of the 2025 era', () => {
  test('are kept per caller', async () => {
    await using server = await startSessionServer()
    await using remote = agentAt(server.url)
    expect(await remote.ask('count')).toEqual({ text: '1' })
    expect(await remote.ask('count')).toEqual({ text: '2' })
    expect(await remote.ask('count', {}, { caller: 'bob' })).toEqual({ text: '1' })
    expect(await remote.ask('count')).toEqual({ text: '3' })
    expect(server.sessions()).toBe(2)
    const begun = ['initialize', 'notifications/initialized', 'GET']
    expect(methods(server)).toEqual([
      ...['server/discover', ...begun, 'tools/call', 'tools/call'],
      ...[...begun, 'tools/call', 'tools/call'],
    ])
  })

  describe('whose server ties its questions to no call', () => {
    const to = 'com.example.booking'
    const book: Answer = async (_, { elicit }) => {
      const { content } = (await elicit?.('Which day?')) ?? {}
      return { content: [{ type: 'text', text: `On ${content?.day}` }] }
    }
    async function openBooking() {
      const stack = new AsyncDisposableStack()
      const server = stack.use(await startSessionServer({ answers: { book } }))
      const gateway = stack.use(await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin }))
      await list(gateway, { package_name: to, endpoints: [{ protocol: 'mcp', url: server.url }] })
      const token = await gateway.token('ada')
      return { gateway, token, [Symbol.asyncDispose]: () => stack.disposeAsync() }
    }

    test('pass them on to a caller of REST', async () => {
      await using booking = await openBooking()
      const { gateway, token } = booking
      const send = async (action: string, params: object) =>
        (await gateway.request('POST', '/a2a/message', { body: { to, action, params }, token })).json
      const { task_id, question } = await send('book', {})
      expect(question.text).toBe(`${to} asks: Which day?`)
      expect(await send('continue_task', { task_id, input: { day: 'Friday' } })).toEqual({
        text: 'On Friday',
      })
    })

    test('pass those of several calls at once on to a client of MCP', async () => {
      await using booking = await openBooking()
      const { gateway, token } = booking
      const client = new OldClient({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { day: 'Friday' } }))
      const requestInit = { headers: { Authorization: `Bearer ${token}` } }
      await client.connect(new OldHttp(new URL(`${gateway.url}/mcp/agents/${to}`), { requestInit }) as never)
      const calls = Array.from({ length: 3 }, () => client.callTool({ name: 'book', arguments: {} }))
      for (const answer of await Promise.all(calls))
        expect(answer).toMatchObject({ content: [{ text: 'On Friday' }] })
      await client.close()
    })
  })

  test('ask the caller of their call, and neither another caller nor a listing of the tools', async () => {
    const streams = new Map<unknown, ServerResponse>()
    let calls = 0
    await using server = await startHostileServer((request, response, body) => {
      const session = request.headers['mcp-session-id'] ?? `of ${request.headers['x-caller']}`
      response.setHeader('mcp-session-id', session)
      if (request.method === 'GET') {
        streams.set(session, response.writeHead(200, events))
        return response.flushHeaders()
      }
      if (body?.method === 'tools/call') return calls++
      if (body?.method === 'tools/list') {
        const params = { message: 'Which day?', requestedSchema: { type: 'object', properties: {} } }
        const question = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params }
        return streams.get('of ada')?.write(event(question))
      }
      return plain(() => answerJson(response, body, { result: begun }))(request, response, body)
    })
    await using remote = agentAt(server.url)
    const over = new AbortController()
    const contextOf = (caller: string) =>
      remote.call({ caller, headers: { 'x-caller': caller }, signal: over.signal })
    const answer = remote.agent.call('book', {}, contextOf('ada'))
    await eventually(() => calls).toBe(1)
    const others = [remote.agent.call('book', {}, contextOf('bob'))]
    await eventually(() => calls).toBe(2)
    const settled = Promise.allSettled([...others, remote.agent.describe?.(contextOf('ada'))])
    expect(JSON.stringify(await answer)).toContain('Which day?')
    over.abort()
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  test('go on if the stream of what is tied to no call says nonsense and breaks', async () => {
    await using server = await startTalking((stream) => {
      const unasked = 'data: {"jsonrpc": "2.0", "id": "x", "result": {}}\n\n'
      stream.write(`data: nonsense\n\n${unasked}`, () => stream.destroy())
    })
    await using remote = agentAt(server.url)
    expect(await remote.ask('echo')).toEqual({ text: '' })
    expect(methods(server)).toContain('GET')
  })

  test('go on if their server never stops talking on the stream of what is tied to no call', async () => {
    await using server = await startTalking((stream) => stream.write(': hello\n'.repeat(30_000)))
    await using remote = agentAt(server.url)
    expect(await remote.ask('echo')).toEqual({ text: '' })
  })

  test('get a bounded number of answers at once, however often their server asks', async () => {
    const held: ServerResponse[] = []
    const answered: string[] = []
    let stream: ServerResponse | undefined
    let finish = () => {}
    await using server = await startHostileServer((request, response, body) => {
      if (body?.method === 'tools/call') {
        finish = () => stream?.end(event({ jsonrpc: '2.0', id: body.id, result: { content: [] } }))
        stream = response.writeHead(200, events)
        for (let id = 0; id < 500; id++) ask(`early ${id}`)
        stream.write(event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info' } }))
        return
      }
      if (body?.result === undefined)
        return plain(() => answerJson(response, body, { result: begun }))(request, response, body)
      answered.push(body.id)
      held.push(response)
      if (body.id === 'late') finish()
    })
    const ask = (id: string) => stream?.write(event({ jsonrpc: '2.0', id, method: 'ping' }))
    await using remote = agentAt(server.url, { net: { connections: null } })
    const hasRead = Promise.withResolvers<void>()
    const notifyClient = async () => hasRead.resolve()
    const call = remote.ask('echo', {}, { notifyClient })
    await hasRead.promise
    await eventually(() => held.length).toBeGreaterThanOrEqual(64)
    for (const response of held) response.writeHead(202).end()
    await eventually(() => {
      ask('late')
      return answered.includes('late')
    }).toBe(true)
    expect(await call).toEqual({ text: '' })
    expect(answered.filter((id) => id.startsWith('early'))).toHaveLength(64)
  })

  test('are opened once for concurrent calls', async () => {
    await using server = await startSessionServer()
    await using remote = agentAt(server.url)
    await Promise.all(Array.from({ length: 10 }, () => remote.ask('count')))
    expect(methods(server).filter((method) => method === 'initialize')).toHaveLength(1)
    expect(server.sessions()).toBe(1)
  })

  test('are opened by another call if the call that opens them is cancelled', async () => {
    const { promise: isOpening, resolve } = Promise.withResolvers<void>()
    await using server = await startHostileServer(
      plain((_, response, body) => {
        if (server.seen.filter(({ rpc }) => rpc === 'initialize').length === 1) return resolve()
        answerJson(response, body, { result: begun })
      }),
    )
    await using remote = agentAt(server.url)
    const controller = new AbortController()
    const first = rejection(remote.ask('echo', {}, { signal: controller.signal }))
    await isOpening
    const second = remote.ask('echo')
    await new Promise((done) => setImmediate(done))
    controller.abort()
    expect(await first).toMatchObject({ code: 'cancelled' })
    expect(await second).toEqual({ text: '' })
  })

  test('are given up if the server does not answer their end', async () => {
    await using server = await startHostileServer((request, response, body) => {
      if (request.method === 'DELETE') return
      response.setHeader('mcp-session-id', 's')
      return plain(() => answerJson(response, body, { result: begun }))(request, response, body)
    })
    const remote = agentAt(server.url, { net: { idle_ms: 600_000 } })
    await remote.ask('echo')
    await remote[Symbol.asyncDispose]()
    expect(server.seen.at(-1)?.method).toBe('DELETE')
  })

  test('that the server forgot are opened again, and the call is repeated', async () => {
    await using server = await startSessionServer()
    await using remote = agentAt(server.url)
    await remote.ask('count')
    server.forget()
    expect(await remote.ask('count')).toEqual({ text: '1' })
    expect(methods(server).filter((method) => method === 'initialize')).toHaveLength(2)
  })

  test('that the server forgets again and again are not opened without end', async () => {
    await using server = await startSessionServer({
      answers: {
        count() {
          server.forget()
          return { content: [] }
        },
      },
    })
    await using remote = agentAt(server.url)
    await remote.ask('count')
    for (let turn = 0; turn < 3; turn++) await remote.ask('count')
    expect(methods(server).filter((method) => method === 'initialize')).toHaveLength(4)
  })

  test('end when they are idle, with the headers of their caller', async () => {
    await using server = await startSessionServer()
    await using remote = agentAt(server.url, { session_idle_ms: 20 })
    await remote.ask('count', {}, { headers: { authorization: 'Bearer ada' } })
    await eventually(server.sessions).toBe(0)
    expect(server.seen.at(-1)).toMatchObject({
      method: 'DELETE',
      headers: { authorization: 'Bearer ada', 'mcp-protocol-version': '2025-11-25' },
    })
    expect(await remote.ask('count')).toEqual({ text: '1' })
  })

  test('are bounded: the least recently used one ends first', async () => {
    await using server = await startSessionServer()
    await using remote = agentAt(server.url, { max_pooled: 2 })
    for (const caller of ['ada', 'bob', 'eve']) await remote.ask('count', {}, { caller })
    await eventually(server.sessions).toBe(2)
    expect(await remote.ask('count', {}, { caller: 'eve' })).toEqual({ text: '2' })
    expect(await remote.ask('count', {}, { caller: 'ada' })).toEqual({ text: '1' })
  })

  test('end with the agent', async () => {
    await using server = await startSessionServer()
    const remote = agentAt(server.url)
    await Promise.all(['ada', 'bob'].map((caller) => remote.ask('count', {}, { caller })))
    await remote[Symbol.asyncDispose]()
    expect(server.sessions()).toBe(0)
  })

  test('of a probe end with it', async () => {
    await using server = await startSessionServer()
    await using remote = agentAt(server.url)
    await remote.agent.probe(remote.call())
    expect(server.sessions()).toBe(0)
  })

  test('begin with a server that accepts notifications and never ends its answer to them', async () => {
    await using server = await startHostileServer((request, response, body) => {
      if (body?.method === 'notifications/initialized') return response.writeHead(202).write(' ')
      return plain(() => answerJson(response, body, { result: begun }))(request, response, body)
    })
    await using remote = agentAt(server.url, { net: { idle_ms: 500 } })
    expect(await remote.ask('echo')).toEqual({ text: '' })
  })

  test('are not needed if the server has none', async () => {
    await using server = await startHostileServer(
      plain((_, response, body) => answerJson(response, body, { result: begun })),
    )
    await using remote = agentAt(server.url)
    await remote.ask('echo')
    await remote.ask('echo')
    expect(methods(server).slice(3)).toEqual(['tools/call', 'tools/call'])
    expect(server.seen.at(-1)?.headers['mcp-protocol-version']).toBe('2025-06-18')
  })
})

describe('a server of 2026-07-28 and of sessions', () => {
  test('that was away for a while is asked for a session again', async () => {
    let isAway = true
    await using server = await startHostileServer((request, response, body) => {
      if (isAway) return response.writeHead(404).end('default backend')
      if (body?.method === 'initialize') response.setHeader('mcp-session-id', 's')
      return plain(() => answerJson(response, body, { result: begun }))(request, response, body)
    })
    await using remote = agentAt(server.url)
    const content = { protocol: 'mcp', era: 'legacy', meta: {}, capabilities: {} } as const
    expect(await rejection(remote.ask('echo', {}, { content }))).toMatchObject({ code: 'upstream_invalid' })
    isAway = false
    const before = server.seen.length
    await remote.ask('echo', {}, { content })
    expect(methods(server)[before]).toBe('initialize')
  })
})

describe('HTTP+SSE of 2024-11-05', () => {
  test('is used at once if the endpoint says so', async () => {
    await using server = await startSseServer()
    await using remote = agentAt(server.url, { binding: 'sse' })
    expect(await remote.ask('echo', { a: 1 })).toEqual({ a: 1 })
    expect(methods(server)).toEqual(['GET', 'initialize', 'notifications/initialized', 'tools/call'])
  })

  test('is detected once, and leaves no stream open', async () => {
    await using server = await startSseServer()
    await using remote = agentAt(server.url)
    await remote.ask('echo')
    await remote.ask('echo')
    expect(methods(server).filter((method) => method === 'server/discover')).toHaveLength(1)
    await eventually(server.sessions).toBe(0)
  })

  test.each([401, 403, 429])(
    'that answers its stream with %d, and knows no POST there, refuses its caller',
    async (status) => {
      await using server = await startHostileServer((request, response) => {
        if (request.method !== 'GET') return response.writeHead(404).end()
        response.writeHead(status, { 'www-authenticate': 'Bearer', 'retry-after': '7' }).end()
      })
      await using remote = agentAt(server.url)
      expect(await rejection(remote.ask('echo'))).toMatchObject({
        code: 'upstream_failed',
        details: { upstream: { status, challenge: 'Bearer' }, retry_after_s: 7 },
      })
    },
  )
})

test('a server that breaks the connection during a call may have done its work, whatever its transport', async () => {
  const servers: McpServer[] = []
  const starts = [startModernServer, startSessionServer, startSseServer, startSocketServer]
  await using stack = new AsyncDisposableStack()
  for (const [at, start] of starts.entries()) {
    const pay: Answer = () => {
      void servers[at]?.[Symbol.asyncDispose]()
      return new Promise(() => {})
    }
    const tools = [{ name: 'pay', inputSchema: { type: 'object' as const } }]
    servers.push(stack.use(await start({ tools, answers: { pay } })))
  }
  const origins = servers.map(({ origin }) => origin).join()
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origins })
  const token = await gateway.token('ada')
  for (const [at, { url }] of servers.entries()) {
    const to = `com.example.bank-${at}`
    await list(gateway, { package_name: to, endpoints: [{ protocol: 'mcp', url }] })
    const passed = { action: 'mcp_request', params: { method: 'tools/call', params: { name: 'pay' } } }
    const body = at % 2 === 0 ? { to, ...passed } : { to, action: 'pay', params: {} }
    const { json } = await gateway.request('POST', '/a2a/message', { body, token })
    expect(json, starts[at]?.name).toMatchObject({
      code: 'upstream_failed',
      hint: expect.stringContaining('may have done'),
    })
  }
})

describe('the tool list of a server', () => {
  test('is cached per caller, for a minute or as long as the server says, also when the clock is set back', async () => {
    let now = 0
    await using server = await startSessionServer()
    await using remote = agentAt(server.url, { clock: () => now })
    const lists = () => methods(server).filter((method) => method === 'tools/list').length
    await remote.agent.describe?.(remote.call())
    await remote.agent.describe?.(remote.call())
    expect(lists()).toBe(1)
    await remote.agent.describe?.(remote.call({ caller: 'bob' }))
    expect(lists()).toBe(2)
    now += 60_000
    await remote.agent.describe?.(remote.call())
    expect(lists()).toBe(3)
    now -= 3_600_000
    await remote.agent.describe?.(remote.call())
    now += 60_000
    await remote.agent.describe?.(remote.call())
    expect(lists()).toBe(4)
  })
})

test.each([
  { protocol: 'a2a' as const, url: 'https://example.com/' },
  { protocol: 'mcp' as const, url: 'https://example.com/', binding: 'carrier-pigeon' },
])('the endpoint %j is not supported', async (endpoint) => {
  await using safe = createSafeFetch({ user_agent: 'test' })
  const facts = { package_name: 'com.example.mcp', address: 'custom.com.example.mcp', card: {} }
  expect(
    createMcpConnect({ ...safe, client: { name: 'test', version: '1' } })(endpoint, facts),
  ).toBeUndefined()
})
