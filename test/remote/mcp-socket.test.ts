import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { isPublic, names } from '../net/hosts.ts'
import { rejection, resolver } from '../net/support.ts'
import { agentAt, eventually } from '../support/mcp-agent.ts'
import { begun, discovered } from '../support/mcp-answers.ts'

interface Sockets extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly upgrades: IncomingMessage[]
  readonly open: () => number
}

const result = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }

// biome-ignore lint/suspicious/noExplicitAny: messages are looked into freely
type Take = (message: any, socket: WebSocket) => unknown

type Era = 'initialize' | '2026-07-28'
const eras: readonly Era[] = ['2026-07-28', 'initialize']

interface SocketOptions {
  readonly era?: Era
  /** The status with which every handshake is refused. */
  readonly refuse?: number
  readonly host?: string
  /** The server selects none of the subprotocols that the client offers. */
  readonly selectsNone?: boolean
}

/** A WebSocket server that answers tool calls as configured. */
async function startSockets(
  take: Take,
  { era = '2026-07-28', refuse, host = '127.0.0.1', selectsNone = false }: SocketOptions = {},
): Promise<Sockets> {
  const upgrades: IncomingMessage[] = []
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => !selectsNone && 'mcp' })
  server.on('upgrade', (request, wire, head) => {
    upgrades.push(request)
    if (refuse) return wire.end(`HTTP/1.1 ${refuse} No\r\nretry-after: 9\r\ncontent-length: 0\r\n\r\n`)
    sockets.handleUpgrade(request, wire, head, (socket) => {
      socket.on('message', (data) => {
        const message = JSON.parse(String(data))
        const { id, method } = message
        const send = (outcome: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
        if (method === 'server/discover' && era === '2026-07-28') send({ result: discovered })
        else if (method === 'server/discover') send({ error: { code: -32601, message: 'Unknown.' } })
        else if (method === 'initialize') send({ result: begun })
        else if (method !== 'notifications/initialized') take(message, socket)
      })
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `ws://${host}:${port}/mcp/ws`,
    port,
    upgrades,
    open: () => sockets.clients.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const polite: Take = ({ id }, socket) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }))

describe.each(eras)('a WebSocket to a server of the era %s', (era) => {
  test('is kept per caller, with the headers of the call that opened it', async () => {
    await using server = await startSockets(polite, { era })
    await using remote = agentAt(server.url)
    for (const caller of ['ada', 'bob', 'ada', 'bob']) {
      expect(await remote.ask('x', {}, { caller, headers: { authorization: caller } })).toEqual({
        text: 'done',
      })
    }
    expect(server.upgrades.map(({ headers }) => headers.authorization)).toEqual(['ada', 'bob'])
    expect(server.open()).toBe(2)
  })

  test('is not used with other credentials than it was opened with', async () => {
    await using server = await startSockets(polite, { era })
    await using remote = agentAt(server.url, { per_call_headers: ['x-assertion'] })
    for (const [authorization, assertion] of ['a1', 'a2', 'b3', 'b4', 'a5']) {
      await remote.ask('x', {}, { headers: { authorization, 'x-assertion': assertion } as never })
    }
    expect(server.upgrades.map(({ headers }) => headers['x-assertion'])).toEqual(['1', '3'])
  })

  test('is open to a server that selects no subprotocol, as those on Quarkus', async () => {
    await using server = await startSockets(polite, { era, selectsNone: true })
    await using remote = agentAt(server.url)
    expect(await remote.ask('x')).toEqual({ text: 'done' })
    expect(server.upgrades.map(({ headers }) => headers['sec-websocket-protocol'])).toEqual(['mcp'])
  })

  test('is closed when it is idle, and opened again', async () => {
    await using server = await startSockets(polite, { era })
    await using remote = agentAt(server.url, { socket_idle_ms: 20 })
    await remote.ask('x')
    await eventually(server.open).toBe(0)
    await remote.ask('x')
    expect(server.upgrades).toHaveLength(2)
  })

  test('that breaks fails its calls; the next call opens a new one', async () => {
    let isBroken = true
    await using server = await startSockets(
      (message, socket) => {
        if (isBroken) socket.terminate()
        else polite(message, socket)
      },
      { era },
    )
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject({ code: 'upstream_failed' })
    isBroken = false
    expect(await remote.ask('x')).toEqual({ text: 'done' })
  })

  test('sends a cancellation when a call is cancelled, and stays open', async () => {
    const updates: unknown[] = []
    await using server = await startSockets(
      (message, socket) => {
        updates.push(message.method)
        if (message.method === 'tools/call' && message.params.name !== 'hang') polite(message, socket)
      },
      { era },
    )
    await using remote = agentAt(server.url)
    const controller = new AbortController()
    const call = rejection(remote.ask('hang', {}, { signal: controller.signal }))
    await eventually(() => updates).toHaveLength(1)
    controller.abort()
    expect(await call).toMatchObject({ code: 'cancelled' })
    expect(await remote.ask('x')).toEqual({ text: 'done' })
    expect(updates).toEqual(['tools/call', 'notifications/cancelled', 'tools/call'])
    expect(server.upgrades).toHaveLength(1)
  })

  test.each([
    ['junk', 'junk'],
    ['what is no message', '{}'],
    ['a wrong id', JSON.stringify({ jsonrpc: '2.0', id: 999, result })],
    ['a wrong id beyond those of the gateway', JSON.stringify({ jsonrpc: '2.0', id: 2 ** 31, result })],
  ])('that receives %s fails the call', async (_, text) => {
    await using server = await startSockets((__, socket) => socket.send(text), { era })
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject({ code: 'upstream_invalid' })
  })

  test('that receives more than 4 MiB fails the call', async () => {
    await using server = await startSockets((_, socket) => socket.send('x'.repeat(11 << 20)), { era })
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject({ code: 'upstream_failed' })
  })

  test('leaves the event loop to others between two messages, however many come at once', async () => {
    const method = 'notifications/message'
    const noise = JSON.stringify({ jsonrpc: '2.0', method, params: { level: 'info', data: 'x' } })
    await using server = await startSockets(
      (message, socket) => {
        for (let count = 0; count < 1000; count++) socket.send(noise)
        polite(message, socket)
      },
      { era },
    )
    await using remote = agentAt(server.url)
    let [received, inTurn, most] = [0, 0, 0]
    const onActivity = () => {
      received++
      most = Math.max(most, ++inTurn)
    }
    const turn = () => {
      inTurn = 0
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    expect(await remote.ask('x', {}, { onActivity })).toEqual({ text: 'done' })
    clearImmediate(next)
    expect(received).toBeGreaterThanOrEqual(1000)
    expect(most).toBeLessThan(5)
  })

  test.each([
    [401, { code: 'upstream_failed', details: { upstream: { status: 401 }, hint: expect.anything() } }],
    [503, { code: 'upstream_failed', details: { upstream: { status: 503 }, retry_after_s: 9 } }],
    [404, { code: 'upstream_invalid', details: { upstream: { status: 404 } } }],
  ])('refused with %i is reported', async (status, failure) => {
    await using server = await startSockets(polite, { era, refuse: status })
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject(failure)
  })

  test('to a closed port is reported', async () => {
    const server = await startSockets(polite, { era })
    await server[Symbol.asyncDispose]()
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject({ code: 'upstream_failed' })
  })

  test('whose handshake hangs ends with the call', async () => {
    const silent = createServer().on('upgrade', () => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    await using remote = agentAt(`ws://127.0.0.1:${(silent.address() as AddressInfo).port}/`)
    const controller = new AbortController()
    const upgraded = once(silent, 'upgrade')
    const call = rejection(remote.ask('x', {}, { signal: controller.signal }))
    const [, wire] = await upgraded
    controller.abort()
    expect(await call).toMatchObject({ code: 'cancelled' })
    await eventually(() => wire.destroyed || wire.readableEnded).toBe(true)
    wire.destroy()
    silent.close()
  })
})

describe('a server of the era of initialize', () => {
  test.each([
    ['an error without a code', { error: { message: 'No.' } }, 'upstream_invalid'],
    ['an error without a text', { error: { code: -32602 } }, 'upstream_invalid'],
    ['a result that is no object', { result: 'done' }, 'upstream_invalid'],
    ['neither', {}, 'upstream_invalid'],
    ['an error', { error: { code: -32602, message: 'No.' } }, 'invalid_request'],
  ])('that answers with %s fails the call', async (_, outcome, code) => {
    await using server = await startSockets(
      ({ id }, socket) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...outcome })),
      { era: 'initialize' },
    )
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject({ code })
  })

  test('that answers twice, or after a cancellation, harms no other call', async () => {
    const ids: unknown[] = []
    await using server = await startSockets(
      ({ id, method, params }, socket) => {
        if (method !== 'tools/call') return
        ids.push(id)
        if (params.name === 'hang') return
        for (const answered of [...ids, id])
          socket.send(JSON.stringify({ jsonrpc: '2.0', id: answered, result }))
      },
      { era: 'initialize' },
    )
    await using remote = agentAt(server.url)
    const controller = new AbortController()
    const cancelled = rejection(remote.ask('hang', {}, { signal: controller.signal }))
    await eventually(() => ids).toHaveLength(1)
    controller.abort()
    await cancelled
    expect(await remote.ask('x')).toEqual({ text: 'done' })
    expect(await remote.ask('x')).toEqual({ text: 'done' })
    expect(server.upgrades).toHaveLength(1)
  })
})

describe('the guard of WebSockets', () => {
  const guarded = (port: number) => ({
    lookup: resolver({ ...names, 'rebound.test': [['127.0.0.2'], ['127.0.0.1']] }),
    is_public: isPublic,
    ports: [port],
    allow_origins: [],
  })

  test('admits public addresses, by name and by address', async () => {
    await using server = await startSockets(polite, { host: '127.0.0.2' })
    for (const host of ['127.0.0.2', 'public.test', 'rebound.test']) {
      await using remote = agentAt(`ws://${host}:${server.port}/mcp`, { net: guarded(server.port) })
      expect(await remote.ask('x')).toEqual({ text: 'done' })
    }
  })

  test.each([
    '127.0.0.1',
    'private.test',
    'metadata.test',
    'mixed.test',
    'mapped.test',
    '[::1]',
    '2130706433',
  ])('refuses %s', async (host) => {
    await using server = await startSockets(polite)
    await using remote = agentAt(`ws://${host}:${server.port}/mcp`, { net: guarded(server.port) })
    expect(await rejection(remote.ask('x'))).toMatchObject({ code: 'blocked_address' })
    expect(server.upgrades).toHaveLength(0)
  })

  test('refuses the gateway itself, allowed or not', async () => {
    await using server = await startSockets(polite)
    const own = `http://127.0.0.1:${server.port}`
    for (const host of ['127.0.0.1', 'localhost']) {
      await using remote = agentAt(`ws://${host}:${server.port}/mcp`, {
        net: { allow_origins: [own], refuse_origins: () => [own] },
      })
      expect(await rejection(remote.ask('x'))).toMatchObject({ code: 'blocked_address' })
    }
    expect(server.upgrades).toHaveLength(0)
  })

  test('needs a certificate that is valid for the name', async () => {
    await using server = await startSockets(polite, { host: '127.0.0.2' })
    await using safe = createSafeFetch({ user_agent: 'test', ...guarded(server.port) })
    const error = await new Promise((done) =>
      safe.dial(`wss://public.test:${server.port}/`)({} as never, done as never),
    )
    // The client tried TLS: the server speaks plain HTTP.
    expect(error).toMatchObject({ code: expect.stringMatching(/^(ERR_SSL|EPROTO|ECONNRESET)/) })
  })
})
