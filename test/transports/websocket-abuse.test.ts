import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'
import { Limiter } from '../../src/router/limiter.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { mcpSocket } from '../../src/transports/mcp/socket.ts'
import { maxInFlight, maxQueued } from '../../src/transports/shared/flow-control.ts'
import { clientFrame } from '../support/frames.ts'
import { startGateway } from '../support/gateway.ts'
import { modernRequest } from '../support/mcp.ts'
import { hangingAction, principal, sampleAgent } from '../support/router.ts'
import { openSocket, type Refused } from '../support/socket.ts'
import { transportOver } from '../support/transport-context.ts'
import { askByHand, listenForSockets } from '../support/upgrades.ts'

interface Proxy extends AsyncDisposable {
  readonly port: number
  /** From now on the proxy drops all data without notice to either side, as a broken network does. */
  silence(): void
}

/** A TCP proxy before a port of this machine. */
async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let silent = false
  function join(from: Socket, to: Socket): void {
    sockets.add(from)
    from.on('error', () => {})
    from.on('data', (chunk) => {
      if (!silent) to.write(chunk)
    })
    from.on('close', () => {
      sockets.delete(from)
      if (!silent) to.destroy()
    })
  }
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    join(near, far)
    join(far, near)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      silent = true
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const nothing = () => ({ run: async () => {} })
const onError = () => {}

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const paths = [
  ['/rpc', 'jsonrpc'],
  ['/mcp/ws', 'mcp'],
] as const
const list = (path: string, id: unknown) =>
  path === '/rpc'
    ? { jsonrpc: '2.0', id, method: 'registry.search_agents', params: {} }
    : modernRequest(id as string, 'tools/list', {})

describe('an upgrade with everything wrong', () => {
  test('is refused for its path, then origin, subprotocol, token and limit, in this order', async () => {
    const authenticate = vi.fn(async (token: string): Promise<Principal> => {
      if (token === 'good') return principal('ada')
      throw new Failure('unauthenticated', 'Nobody has this token.')
    })
    await using server = await listenForSockets(nothing, {
      context: { authenticate },
      allowsOrigin: (origin) => origin === 'https://page.example',
      max_connections: 1,
      sockets: [
        {
          path: '/test',
          subprotocol: 'test',
          open: (connection) => connection.read(nothing),
        },
      ],
    })
    await using _ = await openSocket(server.url, ['test', 'bearer.good'])
    const status = (path: string, protocols: string[], origin: string, token = 'bearer.bad') =>
      openSocket(`http://127.0.0.1:${server.port}${path}`, [...protocols, token], {
        Origin: origin,
      }).then(
        () => 101,
        (refused: Refused) => refused.status,
      )
    expect(await status('/elsewhere', ['other'], 'https://evil.example')).toBe(404)
    expect(await status('/test', ['other'], 'https://evil.example')).toBe(403)
    expect(await status('/test', [], 'https://page.example')).toBe(400)
    expect(authenticate).toHaveBeenCalledTimes(1)
    expect(await status('/test', ['test'], 'https://page.example')).toBe(401)
    expect(await status('/test', ['test'], 'https://page.example', 'bearer.good')).toBe(503)
  })
})

describe('a token', () => {
  test.each(paths)('of %s counts in the header and in the subprotocol', async (path, protocol) => {
    const token = await home.token('caller')
    const price = { symbol: '..' }
    const message =
      path === '/rpc'
        ? { jsonrpc: '2.0', id: 1, method: 'finance.get_current_price', params: price }
        : modernRequest(1, 'tools/call', { name: 'finance_get_current_price', arguments: price })
    const answer = async (protocols: string[], headers = {}) => {
      await using peer = await openSocket(`${home.url}${path}`, protocols, headers)
      peer.send(message)
      return JSON.stringify(await peer.answer(1))
    }
    expect(await answer([protocol])).toContain('unauthenticated')
    expect(await answer([protocol, `bearer.${token}`])).toContain('invalid_request')
    expect(await answer([protocol], { Authorization: `Bearer ${token}` })).toContain('invalid_request')
  })
})

test('a first frame that comes while the token is checked is not lost', async () => {
  const requested = Promise.withResolvers<void>()
  const verified = Promise.withResolvers<Principal>()
  const authenticate = () => {
    requested.resolve()
    return verified.promise
  }
  await using server = await listenForSockets((connection, text) => ({ run: () => connection.send(text) }), {
    context: { authenticate },
  })
  const peer = await askByHand(server.port, '/test', 'test, bearer.token')
  peer.write(clientFrame('{"first":true}'))
  await requested.promise
  peer.write(clientFrame('{"second":true}'))
  verified.resolve(principal('somebody'))
  let received = ''
  while (!received.includes('{"second":true}')) received += (await once(peer, 'data'))[0]
  expect(received).toMatch(/101 Switching.*\{"first":true\}.*\{"second":true\}/s)
  peer.destroy()
})

test('a caller whose requests have cost too much may send some more messages, then the socket closes with 1013', async () => {
  const limits = new Limiter(() => 0)
  let accepted = 0
  const count = () => {
    accepted += 1
    return nothing()
  }
  await using server = await listenForSockets(count, { context: { limits } })
  await using peer = await openSocket(server.url, ['test'])
  limits.charge({ principal: null, client: { address: '127.0.0.1', via: [] } }, 6000)
  const closed = once(peer.socket, 'close')
  for (let sent = 0; sent < 300; sent++) peer.send('{}')
  expect((await closed)[0]).toBe(1013)
  expect(accepted).toBeGreaterThan(maxInFlight + maxQueued)
  expect(accepted).toBeLessThan(300)
})

test('compression is not negotiated, so no small message unpacks to a large one', async () => {
  const peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'])
  // The client of this test offers it.
  expect(peer.socket.extensions).toBe('')
  await peer[Symbol.asyncDispose]()
})

describe.each(paths)('on %s', (path, protocol) => {
  test('a message in many pieces, larger than 1 MiB in sum, closes with 1009', async () => {
    const peer = await askByHand(Number(new URL(home.url).port), path, protocol)
    const piece = 'x'.repeat(100_000)
    peer.write(clientFrame(piece, { last: false }))
    for (let sent = 0; sent < 10; sent++) peer.write(clientFrame(piece, { opcode: 0, last: false }))
    let received = Buffer.alloc(0)
    for await (const chunk of peer) received = Buffer.concat([received, chunk])
    expect(received.subarray(-4)).toEqual(Buffer.from([0x88, 2, 1009 >> 8, 1009 & 0xff]))
  })

  test('a polite close is answered with 1000', async () => {
    await using peer = await openSocket(`${home.url}${path}`, [protocol])
    const closed = once(peer.socket, 'close')
    peer.socket.close(1000)
    expect((await closed)[0]).toBe(1000)
  })

  const exact = [0, -1, '', '1', 'é\u0000😀', ' 1 ', Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
  const inexact = [2 ** 53, -(2 ** 53), '9007199254740993', '1e400']

  test('an id comes back as it was sent, in kind and value', async () => {
    await using peer = await openSocket(`${home.url}${path}`, [protocol])
    for (const id of path === '/rpc' ? [...exact, 1.5] : exact) {
      peer.send(list(path, id))
      expect(await peer.answer(id)).toHaveProperty('result')
    }
  })

  test.each(inexact)('an id that cannot come back so, %s, is refused', async (id) => {
    await using peer = await openSocket(`${home.url}${path}`, [protocol])
    peer.send(JSON.stringify(list(path, 'here')).replace('"here"', String(id)))
    expect(await peer.answer(null)).toMatchObject({ error: { code: -32600 } })
  })
})

describe('a peer that disappeared without closing', () => {
  afterEach(() => void vi.useRealTimers())

  test('is ended by the second heartbeat, and its slot is released', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    await using server = await listenForSockets(
      (connection, text) => ({ run: () => connection.send(text) }),
      {
        max_per_address: 1,
      },
    )
    await using proxy = await startProxy(server.port)
    const upgraded = server.upgraded()
    await using peer = await openSocket(`http://127.0.0.1:${proxy.port}/test`, ['test'])
    const ended = once(await upgraded, 'close')
    peer.send({ id: 1 })
    await peer.answer(1)
    proxy.silence()
    peer.send({ id: 2 })
    vi.advanceTimersByTime(60_000)
    await ended
    await using other = await openSocket(server.url, ['test'])
    expect(other.socket.protocol).toBe('test')
  })
})

test('a socket whose caller cannot be checked now closes with 1013', async () => {
  let down = false
  const authenticate = async () => {
    if (down) throw new Failure('unavailable', 'The issuer does not answer.')
    return principal('somebody')
  }
  await using server = await listenForSockets(
    (connection) => ({ run: async () => void (await connection.identify()) }),
    { context: { authenticate } },
  )
  await using peer = await openSocket(server.url, ['test', 'bearer.token'])
  down = true
  const closed = once(peer.socket, 'close')
  peer.send({})
  expect((await closed)[0]).toBe(1013)
})

test('calls that wait when the socket ends reject at the client, and their actions are aborted', async () => {
  const { action, started } = hangingAction('wait')
  const service = createMcpService(transportOver([sampleAgent('svc.box', [action])]), '1', onError)
  await using server = await listenForSockets(nothing, { sockets: [mcpSocket(service, onError)] })
  const client = new OldClient({ name: 'test', version: '1' })
  await client.connect(new WebSocketClientTransport(new URL(`ws://127.0.0.1:${server.port}/mcp/ws`)))
  const call = client.callTool({ name: 'box_wait', arguments: {} })
  const rejected = expect(call).rejects.toThrow('Connection closed')
  const { signal } = await started
  server.upgrades.destroy()
  await rejected
  if (!signal.aborted) await once(signal, 'abort')
})
