import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { rejection } from '../net/support.ts'
import { agentAt } from '../support/mcp-agent.ts'
import { answerJson, discovered, type Misbehave, startHostileServer } from '../support/mcp-servers.ts'

const events = { 'content-type': 'text/event-stream' }
const event = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`
const result = { resultType: 'complete', content: [] }

/** A server of 2026-07-28 that is well-behaved until a tool is called. */
const then =
  (misbehave: Misbehave): Misbehave =>
  (request, response, body) =>
    body?.method === 'server/discover'
      ? answerJson(response, body, { result: discovered })
      : misbehave(request, response, body)

const answers: Record<string, [Misbehave, object]> = {
  'HTML with 200': [
    (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>'),
    { code: 'upstream_invalid' },
  ],
  'JSON that is none': [
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc": '),
    { code: 'upstream_invalid' },
  ],
  'JSON that is no message': [
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok": true}'),
    { code: 'upstream_invalid' },
  ],
  'a wrong id': [
    (_, response, body) => answerJson(response, { id: Number(body.id) + 7 }, { result }),
    { code: 'upstream_invalid' },
  ],
  'a wrong id in a stream that stays open': [
    (_, response) => response.writeHead(200, events).write(event({ jsonrpc: '2.0', id: 999, result })),
    { code: 'upstream_invalid' },
  ],
  'a stream that ends without the answer': [
    (_, response) => response.writeHead(200, events).end(': nothing\n\n'),
    { code: 'upstream_invalid' },
  ],
  'junk in a stream': [
    (_, response) => response.writeHead(200, events).write('data: {"jsonrpc"\n\n'),
    { code: 'upstream_invalid' },
  ],
  'a stream that breaks': [
    (_, response) => {
      response.writeHead(200, events).write(': begun\n\n')
      response.socket?.resetAndDestroy()
    },
    { code: 'upstream_failed' },
  ],
  '202 and nothing more': [(_, response) => response.writeHead(202).end(), { code: 'upstream_invalid' }],
  '204': [(_, response) => response.writeHead(204).end(), { code: 'upstream_invalid' }],
  'a reset': [(_, response) => response.socket?.resetAndDestroy(), { code: 'upstream_failed' }],
  'more than 10 MiB of JSON': [
    (_, response, body) => answerJson(response, body, { result: { ...result, more: 'x'.repeat(11 << 20) } }),
    { code: 'upstream_invalid' },
  ],
  'more than 10 MiB of events': [
    (_, response) => response.writeHead(200, events).end(`: ${'x'.repeat(11 << 20)}\n\n`),
    { code: 'upstream_invalid' },
  ],
  'no result type': [
    (_, response, body) => answerJson(response, body, { result: { content: [] } }),
    { code: 'upstream_invalid' },
  ],
  'a question to the caller': [
    (_, response, body) =>
      answerJson(response, body, { result: { resultType: 'input_required', requestState: 'x' } }),
    { code: 'upstream_invalid', message: expect.stringContaining('input_required') },
  ],
  'a deeply nested output': [
    (_, response, body) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
      const told = `{"resultType":"complete","content":[],"structuredContent":${deep}}`
      response.end(`{"jsonrpc":"2.0","id":${body.id},"result":${told}}`)
    },
    { code: 'upstream_invalid' },
  ],
  500: [(_, response) => response.writeHead(500).end('oops'), { code: 'upstream_failed' }],
  '503 with Retry-After': [
    (_, response) => response.writeHead(503, { 'retry-after': '12' }).end(),
    { code: 'upstream_failed', details: { upstream: { status: 503 }, retry_after_s: 12 } },
  ],
  '429 with Retry-After': [
    (_, response) => response.writeHead(429, { 'retry-after': '3' }).end(),
    { code: 'upstream_failed', details: { upstream: { status: 429 }, retry_after_s: 3 } },
  ],
  401: [
    (_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(),
    {
      code: 'upstream_failed',
      details: { upstream: { status: 401 }, hint: expect.stringMatching('credential') },
    },
  ],
  '403 for want of a scope': [
    (_, response) =>
      response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope"' }).end(),
    {
      code: 'upstream_failed',
      details: { upstream: { status: 403 }, hint: expect.stringMatching('credential') },
    },
  ],
  406: [(_, response) => response.writeHead(406).end(), { code: 'upstream_invalid' }],
  'a redirect to another origin': [
    (_, response) => response.writeHead(307, { location: 'https://example.com/mcp' }).end(),
    { code: 'upstream_invalid' },
  ],
  'a redirect to a private address': [
    (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    { code: 'blocked_address' },
  ],
  'error -32602': [
    (_, response, body) => answerJson(response, body, { error: { code: -32602, message: 'a is missing' } }),
    { code: 'invalid_request', message: 'a is missing' },
  ],
  'error -32602 for an unknown tool': [
    (_, response, body) =>
      answerJson(response, body, { error: { code: -32602, message: 'Unknown tool: x' } }),
    { code: 'unknown_action' },
  ],
  'error -32601 with HTTP 404': [
    (_, response, body) => {
      const error = { code: -32601, message: 'Method not found' }
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, error }))
    },
    { code: 'unknown_action' },
  ],
  'another error': [
    (_, response, body) => answerJson(response, body, { error: { code: -32050, message: 'Full moon' } }),
    { code: 'upstream_failed', message: 'Full moon', details: { upstream: { code: '-32050' } } },
  ],
}

describe.each(Object.entries(answers))('a server that answers a call with %s', (_, [misbehave, failure]) => {
  test('fails that call, in our words', async () => {
    await using server = await startHostileServer(then(misbehave))
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('echo'))).toMatchObject(failure)
  })
})

const always: Record<string, [Misbehave, object]> = {
  'HTML with 200': answers['HTML with 200'] as never,
  500: answers[500] as never,
  '429 with Retry-After': answers['429 with Retry-After'] as never,
  401: answers[401] as never,
  'a reset': answers['a reset'] as never,
  'a redirect to another origin': answers['a redirect to another origin'] as never,
  'a wrong id': answers['a wrong id'] as never,
  '202 and nothing more': answers['202 and nothing more'] as never,
  404: [
    (_, response) => response.writeHead(404).end(),
    { code: 'upstream_invalid', details: { upstream: { status: 404 } } },
  ],
  405: [
    (_, response) => response.writeHead(405).end(),
    { code: 'upstream_invalid', details: { upstream: { status: 405 } } },
  ],
}

describe.each(Object.entries(always))(
  'a server that answers everything with %s',
  (_, [misbehave, failure]) => {
    test('is neither called nor found alive', async () => {
      await using server = await startHostileServer(misbehave)
      await using remote = agentAt(server.url)
      expect(await rejection(remote.ask('echo'))).toMatchObject(failure)
      expect(await rejection(remote.agent.probe(remote.call()))).toMatchObject(failure)
    })
  },
)

test('nobody listens: that is said', async () => {
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
])('nothing is sent to %s', async (url) => {
  await using remote = agentAt(url, { net: { allow_origins: [] } })
  const code = url.includes('user') ? 'not_callable' : 'blocked_address'
  expect(await rejection(remote.ask('echo'))).toMatchObject({ code })
})

describe('a server that keeps its callers waiting', () => {
  const slow: Record<string, Misbehave> = {
    'from the start': () => {},
    'once it is called': then(() => {}),
    'with an open stream': then((_, response) => response.writeHead(200, events).write(': wait\n\n')),
    'with half an answer': then((_, response) =>
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
    const asked = rejection(remote.ask('echo', {}, { signal: controller.signal }))
    await expect.poll(() => waiting).toBeGreaterThan(0)
    const why = new Failure('upstream_timeout', 'It took too long.')
    controller.abort(why)
    expect(await asked).toBe(why)
    await expect.poll(server.sockets).toBeLessThanOrEqual(1)
  })
})

describe('an endpoint of HTTP+SSE', () => {
  test.each(['https://example.com/post', 'http://127.0.0.1:9/post', 'http://['])(
    'that points to %s is not posted to',
    async (place) => {
      await using server = await startHostileServer((request, response) => {
        if (request.method !== 'GET') return response.writeHead(405).end()
        response.writeHead(200, events).write(`event: endpoint\ndata: ${place}\n\n`)
      })
      await using remote = agentAt(server.url, { binding: 'sse' })
      expect(await rejection(remote.ask('echo'))).toMatchObject({ code: 'upstream_invalid' })
      expect(server.seen.every(({ method }) => method === 'GET')).toBe(true)
      await expect.poll(server.sockets).toBe(0)
    },
  )

  test('whose stream breaks off fails the call, and is not opened again', async () => {
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
    then((_, response, body) => {
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

test('progress comes as fast as it is taken, the last of it always', async () => {
  await using server = await startHostileServer(
    then((_, response, body) => {
      const progressToken = body.params._meta.progressToken
      response.writeHead(200, events)
      for (let progress = 1; progress <= 5_000; progress++) {
        const params = { progressToken, progress }
        response.write(event({ jsonrpc: '2.0', method: 'notifications/progress', params }))
      }
      response.end(event({ jsonrpc: '2.0', id: body.id, result }))
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

test('what a server has become is found out anew', async () => {
  let isNew = true
  await using server = await startHostileServer((_, response, body) => {
    if (isNew) return then((__, ___, ____) => answerJson(response, body, { result }))(_, response, body)
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

describe('a server of the 2025 era', () => {
  const begun = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'hand-made', version: '1' },
  }
  const done = { content: [{ type: 'text', text: 'done' }] }

  /** Begins as it should, and answers calls as told. */
  const old =
    (misbehave: Misbehave): Misbehave =>
    (request, response, body) => {
      if (body?.method === 'initialize') return answerJson(response, body, { result: begun })
      if (body?.method === 'server/discover') return response.writeHead(400).end()
      if (body && body.method !== 'tools/call' && body.method !== 'tools/list')
        return response.writeHead(202).end()
      return misbehave(request, response, body)
    }

  test('that asks its caller for something is refused it, and goes on', async () => {
    let stream: ServerResponse | undefined
    const replies: unknown[] = []
    await using server = await startHostileServer((request, response, body) => {
      if (body?.method === undefined && body?.error) {
        replies.push(body.error.code)
        stream?.end(event({ jsonrpc: '2.0', id: 1, result: done }))
      }
      return old(() => {
        stream = response.writeHead(200, events)
        stream.write(
          event({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'Who?' } }),
        )
      })(request, response, body)
    })
    await using remote = agentAt(server.url)
    expect(await remote.ask('x')).toEqual({ text: 'done' })
    expect(replies).toEqual([-32601])
  })

  test('that breaks its stream off on purpose is asked for the rest', async () => {
    await using server = await startHostileServer(
      old((request, response) => {
        response.writeHead(200, events)
        if (request.headers['last-event-id'] === 'e1')
          response.end(event({ jsonrpc: '2.0', id: 1, result: done }))
        else response.end('id: e1\nretry: 1\ndata: \n\n')
      }),
    )
    await using remote = agentAt(server.url)
    expect(await remote.ask('x', {}, { headers: { 'x-call': 'mine' } })).toEqual({ text: 'done' })
    expect(server.seen.at(-1)).toMatchObject({ method: 'GET', headers: { 'x-call': 'mine' } })
  })

  test('whose tools have changed is asked for them again', async () => {
    const tools = [{ name: 'a', inputSchema: { type: 'object' } }]
    await using server = await startHostileServer(
      old((_, response, body) => {
        if (body.method === 'tools/list') return answerJson(response, body, { result: { tools } })
        response.writeHead(200, events)
        response.write(event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }))
        response.end(event({ jsonrpc: '2.0', id: body.id, result: done }))
      }),
    )
    await using remote = agentAt(server.url)
    await remote.agent.describe?.(remote.call())
    await remote.agent.describe?.(remote.call())
    await remote.ask('a')
    await remote.agent.describe?.(remote.call())
    expect(server.seen.filter(({ rpc }) => rpc === 'tools/list')).toHaveLength(2)
  })

  test('that refuses to begin has failed, whatever number it gives that', async () => {
    await using server = await startHostileServer((_, response, body) =>
      answerJson(response, body, { error: { code: -32601, message: 'No such method' } }),
    )
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject({
      code: 'upstream_failed',
      message: 'No such method',
    })
  })

  test('whose stream stays open after the answer is left', async () => {
    await using server = await startHostileServer(
      old((_, response, body) => {
        response.writeHead(200, events).write(event({ jsonrpc: '2.0', id: body.id, result: done }))
      }),
    )
    await using remote = agentAt(server.url)
    for (let turn = 0; turn < 40; turn++) expect(await remote.ask('x')).toEqual({ text: 'done' })
    await expect.poll(server.sockets).toBeLessThanOrEqual(2)
  })

  test('that forgets its callers without end fails them', async () => {
    await using server = await startHostileServer((request, response, body) => {
      if (body?.method === 'initialize') response.setHeader('mcp-session-id', 's')
      return old(() => response.writeHead(404).end())(request, response, body)
    })
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject({ code: 'upstream_invalid' })
    expect(server.seen.filter(({ rpc }) => rpc === 'tools/call').length).toBeLessThanOrEqual(2)
  })
})
