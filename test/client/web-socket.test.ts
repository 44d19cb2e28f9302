import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import {
  createWebSocketTransport,
  SocketClosed,
  UpgradeRefused,
  type WebSocketTransport,
} from '../../src/client/index.ts'
import { startGateway } from '../support/gateway.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const address = () => `${home.url}/mcp/ws`.replace('http', 'ws')
const info = { name: 'test', version: '1' }
const call = { name: 'finance_get_current_price', arguments: { symbol: '..' } }

type Connected = {
  callTool(params: typeof call): Promise<unknown>
  close(): Promise<void>
}

const clients: Record<string, (transport: WebSocketTransport) => Promise<Connected>> = {
  v1: async (transport) => {
    const client = new OldClient(info)
    await client.connect(transport)
    return client as unknown as Connected
  },
  'v2, 2025 era': async (transport) => {
    const client = new Client(info)
    await client.connect(transport)
    return client as unknown as Connected
  },
  'v2, 2026-07-28': async (transport) => {
    const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(transport)
    return client as unknown as Connected
  },
}

describe.each(Object.entries(clients))('the SDK’s client %s', (_, connect) => {
  test.each([
    ['a token', async () => ({ token: await home.token('ada') })],
    ['a header', async () => ({ headers: { Authorization: `Bearer ${await home.token('ada')}` } })],
    ['a function', async () => ({ authorize: () => home.token('ada') })],
  ])('calls with a token from %s', async (__, options) => {
    const client = await connect(createWebSocketTransport(address(), await options()))
    // The action itself refuses the symbol, so the caller was authenticated.
    expect(await client.callTool(call)).toMatchObject({
      _meta: { 'dragoman/problem': { code: 'invalid_request' } },
    })
    await client.close()
  })

  test('gets the reason of a refusal as text', async () => {
    const refused = await connect(createWebSocketTransport(address(), { token: 'bad' })).catch(
      (fault) => fault,
    )
    expect(refused).toBeInstanceOf(UpgradeRefused)
    expect(refused).toMatchObject({ status: 401, code: 'unauthenticated' })
    expect(refused.challenge).toContain('resource_metadata=')
  })
})

/** A server that takes or refuses sockets as a test says. */
async function startServer(
  refusal?: string,
): Promise<AsyncDisposable & { url: string; sockets: WebSocketServer }> {
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    if (refusal !== undefined) socket.end(refusal)
    else
      sockets.handleUpgrade(request, socket, head, (peer) => void sockets.emit('connection', peer, request))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    sockets,
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      for (const peer of sockets.clients) peer.terminate()
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('a transport', () => {
  test('passes on the retry time and the hint of a refusal', async () => {
    const body = '{"code":"unavailable","detail":"No room.","hint":"Wait."}'
    await using server = await startServer(
      `HTTP/1.1 503 X\r\nRetry-After: 7\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
    await expect(createWebSocketTransport(server.url).start()).rejects.toMatchObject({
      name: 'UpgradeRefused',
      status: 503,
      code: 'unavailable',
      hint: 'Wait.',
      retry_after_s: 7,
      message: 'The server refused the socket with 503: No room.',
    })
  })

  test('reports a refusal in another form, and a server that cannot be reached', async () => {
    await using server = await startServer('HTTP/1.1 403 No\r\nContent-Length: 4\r\n\r\n<p>n')
    await expect(createWebSocketTransport(server.url).start()).rejects.toMatchObject({
      status: 403,
      code: undefined,
    })
    await expect(createWebSocketTransport('ws://127.0.0.1:9/').start()).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
  })

  test.each([
    'wss://example.com/mcp/ws?token=abc',
    'wss://example.com/mcp/ws?x=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.x',
    'wss://ada:secret@example.com/mcp/ws',
  ])('takes no secret in its address: %s', (url) => {
    expect(() => createWebSocketTransport(url)).toThrow(/address/)
  })

  test('offers only mcp, and sends its headers', async () => {
    await using server = await startServer()
    const seen = once(server.sockets, 'connection')
    const transport = createWebSocketTransport(server.url, { token: 't', headers: { 'X-Own': '1' } })
    await transport.start()
    const [, request] = await seen
    expect(request.headers).toMatchObject({
      'sec-websocket-protocol': 'mcp',
      authorization: 'Bearer t',
      'x-own': '1',
    })
    expect(request.url).toBe('/')
    await transport.close()
  })

  test('passes on each message, reports invalid ones, and how the socket closed', async () => {
    await using server = await startServer()
    server.sockets.once('connection', (peer) => {
      peer.send('{"jsonrpc":"2.0","method":"a"}')
      peer.send('{')
      peer.send('[]')
      peer.send('{"jsonrpc":"2.0","method":"b"}')
      peer.close(1008, 'The token no longer holds.')
    })
    const transport = createWebSocketTransport(server.url)
    const [messages, errors]: [object[], Error[]] = [[], []]
    transport.onmessage = (message) => void messages.push(message)
    transport.onerror = (error) => void errors.push(error)
    const closed = new Promise<void>((resolve) => {
      transport.onclose = resolve
    })
    await transport.start()
    await closed
    expect(messages).toEqual([
      { jsonrpc: '2.0', method: 'a' },
      { jsonrpc: '2.0', method: 'b' },
    ])
    expect(errors.map(({ name }) => name)).toEqual(['SyntaxError', 'SyntaxError', 'SocketClosed'])
    expect(errors.at(-1)).toBeInstanceOf(SocketClosed)
    expect(errors.at(-1)).toMatchObject({ code: 1008, reason: 'The token no longer holds.' })
    await expect(transport.send({})).rejects.toThrow(/not open/)
  })

  test('waits before it sends more until the server reads', async () => {
    await using server = await startServer()
    const paused = once(server.sockets, 'connection')
    const transport = createWebSocketTransport(server.url)
    await transport.start()
    const [peer] = await paused
    peer.pause()
    const text = 'x'.repeat(1024 * 1024)
    let left = 0
    const all = Array.from({ length: 30 }, () =>
      transport.send({ text }).then(() => {
        left += 1
      }),
    )
    await all[0]
    await new Promise((resolve) => setImmediate(resolve))
    expect(left).toBeLessThan(30)
    peer.resume()
    await Promise.all(all)
    await transport.close()
  })

  test('ends when the server stays silent', async () => {
    await using server = await startServer()
    const arrived = once(server.sockets, 'connection')
    const transport = createWebSocketTransport(server.url, { beat_ms: 40 })
    const error = new Promise<Error>((resolve) => {
      transport.onerror = resolve
    })
    await transport.start()
    const [peer] = await arrived
    peer.pause()
    expect(await error).toMatchObject({ name: 'SocketClosed', code: 1006 })
  })
})
