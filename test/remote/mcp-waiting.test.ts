import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { rejection } from '../net/support.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { modernHeaders, modernRequest } from '../support/mcp.ts'
import { agentAt, eventually } from '../support/mcp-agent.ts'
import { answerJson, event, events, type Misbehave, nothing, untilCalled } from '../support/mcp-answers.ts'
import { startHostileServer } from '../support/mcp-servers.ts'

test('a closed port is reported', async () => {
  const server = await startHostileServer(() => {})
  await server[Symbol.asyncDispose]()
  await using remote = agentAt(server.url)
  expect(await rejection(remote.ask('echo'))).toMatchObject({ code: 'upstream_failed' })
})

test.each([
  'http://127.0.0.1:9/mcp',
  'ws://127.0.0.1:9/mcp',
  'http://user:word@example.com/',
  'ws://10.0.0.1/',
])('no request is sent to %s', async (url) => {
  await using remote = agentAt(url, { net: { allow_origins: [] } })
  const code = url.includes('user') ? 'not_callable' : 'blocked_address'
  expect(await rejection(remote.ask('echo'))).toMatchObject({ code })
})

describe('a server that keeps its callers waiting', () => {
  const slow: Record<string, Misbehave> = {
    'from the start': () => {},
    'once it is called': untilCalled(() => {}),
    'with an open stream': untilCalled((_, response) => response.writeHead(200, events).write(': wait\n\n')),
    'with half an answer': untilCalled((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc"'),
    ),
    'without an endpoint': (request, response) => {
      if (request.method !== 'GET') return response.writeHead(405).end()
      response.writeHead(200, events).write(': wait\n\n')
    },
    'after the endpoint': (request, response) => {
      if (request.method !== 'GET') return request.url === '/here' || response.writeHead(405).end()
      response.writeHead(200, events).write('event: endpoint\ndata: /here\n\n')
    },
  }
  test.each(Object.entries(slow))('%s is left when the caller leaves', async (_, misbehave) => {
    let waiting = 0
    await using server = await startHostileServer((request, response, body) => {
      misbehave(request, response, body)
      if (!response.writableEnded) waiting++
    })
    await using remote = agentAt(server.url)
    const controller = new AbortController()
    const call = rejection(remote.ask('echo', {}, { signal: controller.signal }))
    await eventually(() => waiting).toBeGreaterThan(0)
    const why = new Failure('upstream_timeout', 'It took too long.')
    controller.abort(why)
    expect(await call).toBe(why)
    await eventually(server.sockets).toBeLessThanOrEqual(1)
  })
})

describe('an endpoint of HTTP+SSE', () => {
  test.each(['https://example.com/post', 'http://127.0.0.1:9/post', 'http://['])(
    'that points to %s gets no POST',
    async (url) => {
      await using server = await startHostileServer((request, response) => {
        if (request.method !== 'GET') return response.writeHead(405).end()
        response.writeHead(200, events).write(`event: endpoint\ndata: ${url}\n\n`)
      })
      await using remote = agentAt(server.url, { binding: 'sse' })
      expect(await rejection(remote.ask('echo'))).toMatchObject({ code: 'upstream_invalid' })
      expect(server.seen.every(({ method }) => method === 'GET')).toBe(true)
      await eventually(server.sockets).toBe(0)
    },
  )

  test('that was found by trying and points elsewhere is what the caller reads about', async () => {
    await using server = await startHostileServer((request, response) => {
      if (request.method !== 'GET') return response.writeHead(405).end()
      response.writeHead(200, events).write('event: endpoint\ndata: https://example.com/post\n\n')
    })
    await using remote = agentAt(server.url)
    const message = expect.stringContaining('Endpoint origin does not match connection origin')
    expect(await rejection(remote.ask('echo'))).toMatchObject({ code: 'upstream_invalid', message })
  })

  test('whose stream breaks fails the call, and is not opened again', async () => {
    let stream: ServerResponse | undefined
    await using server = await startHostileServer((request, response) => {
      if (request.method !== 'GET') return response.writeHead(202).end(() => stream?.destroy())
      stream = response.writeHead(200, events)
      stream.write('event: endpoint\ndata: /here\n\n')
    })
    await using remote = agentAt(server.url, { binding: 'sse' })
    expect(await rejection(remote.ask('echo'))).toMatchObject({ code: 'upstream_failed' })
    expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(1)
  })
})

describe('a list of tools', () => {
  const listing = (page: (cursor: number) => object): Misbehave =>
    untilCalled((_, response, body) => {
      const cursor = Number(body.params.cursor ?? 0)
      answerJson(response, body, {
        result: { resultType: 'complete', ttlMs: 0, cacheScope: 'public', ...page(cursor) },
      })
    })
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })

  test('has pages', async () => {
    const pages = listing((cursor) => ({
      tools: [tool(`t${cursor}`)],
      ...(cursor < 9 && { nextCursor: String(cursor + 1) }),
    }))
    await using server = await startHostileServer(pages)
    await using remote = agentAt(server.url)
    expect(await remote.agent.describe?.(remote.call())).toHaveLength(10)
  })

  test.each([
    ['ends never', listing((cursor) => ({ tools: [tool('a')], nextCursor: String(cursor + 1) }))],
    [
      'has too many tools',
      listing(() => ({ tools: Array.from({ length: 1001 }, (_, at) => tool(`t${at}`)) })),
    ],
    ['is too large', listing(() => ({ tools: [{ ...tool('a'), description: 'x'.repeat(1 << 20) }] }))],
    ['is none', listing(() => ({ tools: 'all' }))],
  ])('that %s is refused', async (_, misbehave) => {
    await using server = await startHostileServer(misbehave)
    await using remote = agentAt(server.url)
    expect(await rejection(remote.agent.describe?.(remote.call()) as Promise<unknown>)).toMatchObject({
      code: 'upstream_invalid',
    })
    expect(server.seen.length).toBeLessThanOrEqual(11)
  })
})

test('progress is passed on as fast as the caller accepts it, the latest always', async () => {
  await using server = await startHostileServer(
    untilCalled((_, response, body) => {
      const progressToken = body.params._meta.progressToken
      response.writeHead(200, events)
      for (let progress = 1; progress <= 5_000; progress++) {
        const params = { progressToken, progress }
        response.write(event({ jsonrpc: '2.0', method: 'notifications/progress', params }))
      }
      response.end(event({ jsonrpc: '2.0', id: body.id, result: nothing }))
    }),
  )
  await using remote = agentAt(server.url)
  const taken: number[] = []
  let atOnce = 0
  let most = 0
  await remote.ask(
    'work',
    {},
    {
      async emit(update) {
        most = Math.max(most, ++atOnce)
        await new Promise((resolve) => setImmediate(resolve))
        atOnce--
        if ('progress' in update) taken.push(update.progress)
      },
    },
  )
  expect(most).toBe(1)
  expect(taken.at(-1)).toBe(5_000)
})

test('a server that changes its revision is detected again', async () => {
  let isNew = true
  await using server = await startHostileServer((_, response, body) => {
    if (isNew)
      return untilCalled((__, ___, ____) => answerJson(response, body, { result: nothing }))(
        _,
        response,
        body,
      )
    response.writeHead(410).end()
  })
  await using remote = agentAt(server.url)
  await remote.ask('echo')
  isNew = false
  await rejection(remote.ask('echo'))
  isNew = true
  expect(await remote.ask('echo')).toEqual({ text: '' })
  expect(server.seen.map(({ rpc }) => rpc)).toEqual([
    ...['server/discover', 'tools/call', 'tools/call'],
    ...['server/discover', 'tools/call'],
  ])
})

test('a call of an MCP client to a server has the time of every other call, not that of an action of the gateway', async () => {
  await using server = await startHostileServer(untilCalled(() => {}))
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin, DRAGOMAN_CALL_TOTAL: '1' })
  const to = 'com.example.silent'
  await list(home, { package_name: to, endpoints: [{ protocol: 'mcp', url: server.url }] })
  const body = modernRequest(1, 'tools/call', { name: 'echo', arguments: {} })
  const { json } = await home.request('POST', `/mcp/agents/${to}`, {
    body,
    headers: modernHeaders('tools/call', 'echo'),
    token: await home.token('ada'),
  })
  expect(JSON.parse(json.result.content[0].text).detail).toBe('No answer within 1000 ms.')
})
