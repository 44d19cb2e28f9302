import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { bridge } from '../../src/client/bridge/bridge.ts'
import type { Remote, RemoteEvents } from '../../src/client/bridge/frame.ts'
import { createHttpRemote } from '../../src/client/bridge/http.ts'
import { answeredBy, createSocketRemote } from '../../src/client/bridge/socket.ts'
import { serve } from '../net/support.ts'
import { initialize, initialized, modernRequest } from '../support/mcp.ts'

/** A bridge over pipes of the test, and its output. */
function over(connect: (events: RemoteEvents) => Remote, drain_ms = 5000) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const lines: string[] = []
  const notices: string[] = []
  const hearers = new Set<() => void>()
  let pending = ''
  output.on('data', (chunk) => {
    pending += chunk
    const parts = pending.split('\n')
    pending = parts.pop() ?? ''
    lines.push(...parts)
    for (const listener of hearers) listener()
  })
  const ended = bridge({ input, output, say: (words) => void notices.push(words), connect, drain_ms })
  return {
    input,
    lines,
    notices,
    ended,
    say: (message: object | string) =>
      void input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    /** Resolves once there are so many lines. */
    async line(count: number): Promise<Record<string, never>> {
      while (lines.length < count)
        await new Promise<void>((resolve) => {
          const listener = () => {
            hearers.delete(listener)
            resolve()
          }
          hearers.add(listener)
        })
      return JSON.parse(lines[count - 1] ?? '')
    },
  }
}

type Answer = (peer: WebSocket, text: string, message: Record<string, unknown>) => void

async function startSocket(answer: Answer) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  server.on('connection', (peer) =>
    peer.on('message', (data) => answer(peer, String(data), JSON.parse(String(data)))),
  )
  const url = new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return {
    server,
    open: (events: RemoteEvents) => createSocketRemote(url, {}, events),
    async [Symbol.asyncDispose]() {
      for (const peer of server.clients) peer.terminate()
      server.close()
    },
  }
}

type Serve = (request: IncomingMessage, response: ServerResponse, body: string) => void

async function startHttp(answer: Serve) {
  const server = await serve(async (request, response) => answer(request, response, await textOf(request)))
  const url = new URL('/mcp', server.origin)
  return {
    open: (events: RemoteEvents) => createHttpRemote(url, { token: 't', headers: { 'X-Own': '1' } }, events),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const result = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result: {} })

describe('a bridge to a socket', () => {
  test('passes messages on to the letter, both ways, each on a line', async () => {
    const received: string[] = []
    await using server = await startSocket((peer, text) => {
      received.push(text)
      peer.send('{"jsonrpc":"2.0",\n "id":1e0,\r\n "result":{"big":12345678901234567890,"text":"a\\nb"}}')
    })
    const host = over(server.open)
    const line = '{ "jsonrpc": "2.0", "id": 1, "method":"x","params":{"a":1.0,"b":12345678901234567890} }'
    host.say(line)
    await host.line(1)
    expect(received).toEqual([line])
    expect(host.lines).toEqual([
      '{"jsonrpc":"2.0",  "id":1e0,  "result":{"big":12345678901234567890,"text":"a\\nb"}}',
    ])
    host.input.end()
    expect(await host.ended).toBe(true)
  })

  test.each(['s', '7', 0, -1, 7])(
    'answers under the same id %j when the server is gone, and continues',
    async (id) => {
      let broken = false
      await using server = await startSocket((peer, _, message) => {
        if (broken) return peer.send(result(message.id))
        broken = true
        peer.close(1011, 'A fault.')
      })
      const host = over(server.open)
      host.say(modernRequest(id, 'tools/list', {}))
      expect(await host.line(1)).toMatchObject({
        id,
        error: { code: -32000, message: expect.stringContaining('1011') },
      })
      host.say(modernRequest(id, 'tools/list', {}))
      expect(await host.line(2)).toMatchObject({ id, result: {} })
      host.input.end()
      expect(await host.ended).toBe(true)
    },
  )

  test('ends, so that its host can restart it, when a session of the 2025 era is lost', async () => {
    await using server = await startSocket((peer, _, message) => {
      if (message.method === 'initialize') peer.send(result(message.id))
      else peer.close(1001, 'Shutting down.')
    })
    const host = over(server.open)
    host.say(initialize('i'))
    await host.line(1)
    host.say({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    expect(await host.line(2)).toMatchObject({ id: 2, error: { message: expect.stringContaining('1001') } })
    expect(await host.ended).toBe(false)
    expect(host.notices.join()).toContain('Shutting down.')
  })

  test('reports an address without a server as an error', async () => {
    const host = over((events) => createSocketRemote(new URL('ws://127.0.0.1:9/'), {}, events))
    host.say(modernRequest(1, 'tools/list', {}))
    expect(await host.line(1)).toMatchObject({ id: 1, error: { data: { code: 'ECONNREFUSED' } } })
    host.input.end()
    expect(await host.ended).toBe(true)
  })

  test('answers an invalid message, and does not pass it on', async () => {
    const received: string[] = []
    await using server = await startSocket((_, text) => void received.push(text))
    const host = over(server.open)
    host.say('{')
    host.say('[]')
    host.say('{"jsonrpc":"2.0","id":{}}')
    await host.line(3)
    expect(host.lines.map((line) => JSON.parse(line).error.code)).toEqual([-32700, -32600, -32600])
    expect(received).toEqual([])
    host.input.end()
    await host.ended
  })

  test('waits for pending requests when its input ends, but not for cancelled ones', async () => {
    await using server = await startSocket((peer, _, message) => {
      if (message.id === 1) setImmediate(() => peer.send(result(1)))
    })
    const host = over(server.open, 60_000)
    host.say(modernRequest(1, 'tools/list', {}))
    host.say(modernRequest(2, 'tools/list', {}))
    host.say(modernRequest(3, 'subscriptions/listen', { notifications: {} }))
    host.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
    await host.line(1)
    expect(server.server.clients.size).toBe(1)
    host.input.end()
    expect(await host.ended).toBe(true)
    expect(host.lines).toEqual([result(1)])
  })
})

describe('a bridge to Streamable HTTP', () => {
  test('repeats a message of 2026-07-28 in its headers, and passes on JSON', async () => {
    const seen: IncomingMessage[] = []
    await using server = await startHttp((request, response, body) => {
      seen.push(request)
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(result(JSON.parse(body).id))
    })
    const host = over(server.open)
    host.say(modernRequest(1, 'tools/call', { name: 'a tool' }))
    await host.line(1)
    host.say(modernRequest(2, 'resources/read', { uri: 'agent://Ü' }))
    await host.line(2)
    host.say({ jsonrpc: '2.0', id: 3, method: 'ping' })
    await host.line(3)
    const [call, read, ping] = seen.map(({ headers }) => headers)
    expect(call).toMatchObject({
      authorization: 'Bearer t',
      'x-own': '1',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'a tool',
    })
    expect(read?.['mcp-name']).toBe(`=?base64?${Buffer.from('agent://Ü').toString('base64')}?=`)
    expect(ping).not.toHaveProperty('mcp-method')
    host.input.end()
    expect(await host.ended).toBe(true)
  })

  test('repeats the parameters that a tool wants in headers, once its list has passed', async () => {
    const seen: IncomingMessage['headers'][] = []
    const annotated = (type: string, header: string) => ({ type, 'x-mcp-header': header })
    const properties = {
      region: annotated('string', 'Region'),
      deep: { type: 'object', properties: { dry: annotated('boolean', 'Dry-Run') } },
      absent: annotated('integer', 'Absent'),
      bad: annotated('string', 'not a token'),
    }
    const tools = [{ name: 'deploy', inputSchema: { type: 'object', properties } }]
    await using server = await startHttp((request, response, body) => {
      seen.push(request.headers)
      const { id, method } = JSON.parse(body)
      const answer = { jsonrpc: '2.0', id, result: method === 'tools/list' ? { tools } : {} }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
    })
    const host = over(server.open)
    host.say(modernRequest(1, 'tools/list', {}))
    await host.line(1)
    const input = { region: 'Österreich', deep: { dry: true }, bad: 'x' }
    host.say(modernRequest(2, 'tools/call', { name: 'deploy', arguments: input }))
    await host.line(2)
    const own = Object.entries(seen[1] ?? {}).filter(([name]) => name.startsWith('mcp-param-'))
    expect(Object.fromEntries(own)).toEqual({
      'mcp-param-region': `=?base64?${Buffer.from('Österreich').toString('base64')}?=`,
      'mcp-param-dry-run': 'true',
    })
    host.input.end()
    await host.ended
  })

  test('passes on each event, however it is cut', async () => {
    await using server = await startHttp((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      const all = Buffer.from(
        `: hello\r\n\r\nevent: message\r\ndata: {"jsonrpc":"2.0","method":"é"}\r\n\r\nid: 7\ndata: {"jsonrpc":"2.0",\ndata: "id":1,"result":{}}\n\n`,
      )
      for (const byte of all) response.write(Buffer.from([byte]))
      response.end()
    })
    const host = over(server.open)
    host.say(modernRequest(1, 'tools/list', {}))
    await host.line(2)
    expect(host.lines).toEqual(['{"jsonrpc":"2.0","method":"é"}', '{"jsonrpc":"2.0", "id":1,"result":{}}'])
    host.input.end()
    await host.ended
  })

  test('keeps a session of the 2025 era: its id, its revision, its stream, and ends it', async () => {
    const seen: string[] = []
    await using server = await startHttp((request, response, body) => {
      const { 'mcp-session-id': id = '', 'mcp-protocol-version': version = '' } = request.headers
      const message = body === '' ? {} : JSON.parse(body)
      seen.push([request.method, message.method ?? '', id, version].join(' '))
      if (message.method === 'initialize') {
        const answer = { jsonrpc: '2.0', id: 'i', result: { protocolVersion: '2025-06-18' } }
        response.writeHead(200, { 'Content-Type': 'application/json', 'Mcp-Session-Id': 's1' })
        response.end(JSON.stringify(answer))
      } else if (request.method === 'GET') {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        response.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n')
      } else if (message.method === 'tools/list') {
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(result(2))
      } else response.writeHead(request.method === 'DELETE' ? 200 : 202).end()
    })
    const host = over(server.open)
    host.say(initialize('i'))
    await host.line(1)
    host.say(initialized)
    host.say({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    await host.line(3)
    expect(host.lines.slice(1).toSorted()).toEqual([
      result(2),
      '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    ])
    host.input.end()
    expect(await host.ended).toBe(true)
    expect(seen[0]).toBe('POST initialize  ')
    expect(seen[1]).toBe('POST notifications/initialized s1 2025-06-18')
    expect(seen.slice(2, 4).toSorted()).toEqual(['GET  s1 2025-06-18', 'POST tools/list s1 2025-06-18'])
    expect(seen[4]).toBe('DELETE  s1 2025-06-18')
  })

  test('ends, so that its host can restart it, when the server no longer knows the session', async () => {
    await using server = await startHttp((_, response, body) => {
      const { method, id } = body === '' ? {} : JSON.parse(body)
      if (method !== 'initialize') return void response.writeHead(404).end('No such session.')
      response.writeHead(200, { 'Content-Type': 'application/json', 'Mcp-Session-Id': 's1' }).end(result(id))
    })
    const host = over(server.open)
    host.say(initialize('i'))
    await host.line(1)
    host.say({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    expect(await host.line(2)).toMatchObject({ id: 2, error: { data: { status: 404 } } })
    expect(await host.ended).toBe(false)
  })

  test('closes a cancelled request of 2026-07-28, and sends no further message for it', async () => {
    const arrived = Promise.withResolvers<ServerResponse>()
    let count = 0
    await using server = await startHttp((_, response, body) => {
      if (JSON.parse(body).method === 'notifications/cancelled') count += 1
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write(': wait\n\n')
      arrived.resolve(response)
    })
    const host = over(server.open, 60_000)
    host.say(modernRequest(1, 'tools/list', {}))
    const response = await arrived.promise
    const closed = once(response, 'close')
    host.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await closed
    host.input.end()
    expect(await host.ended).toBe(true)
    expect([host.lines, count]).toEqual([[], 0])
  })

  test.each<[string, Serve, object]>([
    [
      'a JSON-RPC error under another id',
      (_, response) =>
        response
          .writeHead(401, { 'Content-Type': 'application/json' })
          .end(
            '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"No.","data":{"code":"unauthenticated"}}}',
          ),
      { code: -32001, message: 'No.', data: { code: 'unauthenticated', status: 401 } },
    ],
    [
      'a problem',
      (_, response) => response.writeHead(403).end('{"code":"forbidden","detail":"Not you."}'),
      { code: -32003, message: expect.stringContaining('Not you.'), data: { status: 403 } },
    ],
    [
      'a page',
      (_, response) => response.writeHead(502).end('<p>'),
      {
        code: -32000,
        message: 'The server answered 502.',
        data: { status: 502, hint: expect.stringContaining('log') },
      },
    ],
    [
      'a text',
      (_, response) => response.writeHead(500, { 'Content-Type': 'text/plain' }).end('No\ndatabase.'),
      { message: 'The server answered 500: No database.', data: { status: 500 } },
    ],
    [
      'a path that does not exist',
      (_, response) => response.writeHead(404).end(),
      {
        message: 'The server answered 404.',
        data: { hint: expect.stringContaining('https://HOST/mcp') },
      },
    ],
    [
      'a broken connection',
      (_, response) => response.socket?.resetAndDestroy(),
      { message: expect.stringMatching(/^The server cannot be reached: .*(ECONNRESET|socket)/) },
    ],
    [
      'a redirect, which is not followed',
      (_, response) => response.writeHead(307, { Location: 'http://127.0.0.1:9/' }).end(),
      { code: -32000, data: { status: 307 } },
    ],
    [
      'events that end before the answer',
      (_, response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(': no\n\n'),
      { code: -32000, message: expect.stringContaining('before it was complete') },
    ],
    ['a cut connection', (_, response) => response.destroy(), { code: -32000 }],
  ])('reports %s as an error under the id of the request', async (_, serve, error) => {
    await using server = await startHttp(serve)
    const host = over(server.open)
    host.say(modernRequest('q', 'tools/list', {}))
    expect(await host.line(1)).toMatchObject({ id: 'q', error })
    host.input.end()
    expect(await host.ended).toBe(true)
  })

  test('says in words that a notification was refused', async () => {
    await using server = await startHttp((_, response) => response.writeHead(405).end())
    const host = over(server.open)
    host.say(initialized)
    await expect.poll(() => host.notices).toEqual(['Not sent: The server answered 405.'])
    host.input.end()
    await host.ended
  })

  test('passes on unchanged an error that is an answer, whatever its status', async () => {
    const error = '{"jsonrpc":"2.0","id":"q","error":{"code":-32022,"message":"x","data":{"supported":[]}}}'
    await using server = await startHttp((_, response) => response.writeHead(400).end(error))
    const host = over(server.open)
    host.say(modernRequest('q', 'tools/list', {}))
    await host.line(1)
    expect(host.lines).toEqual([error])
    host.input.end()
    await host.ended
  })
})

test.each([
  ['{"jsonrpc":"2.0","id":7,"result":{"id":8}}', '7'],
  ['{"jsonrpc":"2.0","id":"a-7","error":{"code":1,"message":"No."}}', '"a-7"'],
  ['{"result":{},"id":7,"jsonrpc":"2.0"}', '7'],
  ['{"jsonrpc":"2.0","id":7.0,"result":{}}', '7'],
  ['{"jsonrpc":"2.0","id":"\\u0061","result":{}}', '"a"'],
  ['{"jsonrpc":"2.0","id":7,"method":"ping"}', undefined],
  ['{"jsonrpc":"2.0","method":"notifications/progress"}', undefined],
  ['no message', undefined],
])('the id that %s answers is %s', (text, id) => {
  expect(answeredBy(text)).toBe(id)
})
