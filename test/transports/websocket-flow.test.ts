import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { Context } from '../../schemas/action.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { mcpSocket } from '../../src/transports/mcp/socket.ts'
import { maxInFlight, maxQueued } from '../../src/transports/shared/flow-control.ts'
import { clientFrame } from '../support/frames.ts'
import { modernRequest } from '../support/mcp.ts'
import { principal, sampleAction, sampleAgent } from '../support/router.ts'
import { openSocket } from '../support/socket.ts'
import { transportOver } from '../support/transport-context.ts'
import { askByHand, listenForSockets } from '../support/upgrades.ts'

const onError = () => {}
const nothing = () => ({ run: async () => {} })
const requests = Array.from({ length: 100 }, (_, id) => id + 1)

/** `/mcp/ws` over one action. */
function listenWith(run: (input: unknown, context: Context) => Promise<unknown>) {
  const service = createMcpService(
    transportOver([sampleAgent('svc.box', [sampleAction('open', { run })])]),
    '1',
    onError,
  )
  return listenForSockets(nothing, { sockets: [mcpSocket(service, onError)] })
}
const call = (id: number) => modernRequest(id, 'tools/call', { name: 'box_open', arguments: { id } })
const cancel = (requestId: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})

describe('a hundred requests in one piece, of a client that does not read', () => {
  const long = 'x'.repeat(1024 * 1024 - 100)

  test('never buffer more than 16 answers, and all are answered when it reads', async () => {
    let begun = 0
    await using server = await listenWith(async () => {
      begun += 1
      return { long }
    })
    const upgraded = server.upgraded()
    const peer = await askByHand(server.port, '/mcp/ws', 'mcp')
    const wire = await upgraded
    await once(peer, 'data')
    peer.pause()
    peer.write(Buffer.concat(requests.map((id) => clientFrame(JSON.stringify(call(id))))))

    // An answer contains the text twice: as text and as an object.
    const answer = 2 * long.length + 1000
    let peak = 0
    let quiet = 0
    for (let seen = -1; quiet < 200; quiet = begun === seen && begun > 0 ? quiet + 1 : 0) {
      seen = begun
      peak = Math.max(peak, wire.writableLength)
      await turn()
    }
    expect(begun).toBeLessThan(maxInFlight + 5)
    expect(peak).toBeGreaterThan(answer)

    let received = 0
    peer.on('data', (chunk) => {
      received += chunk.length
      peak = Math.max(peak, wire.writableLength)
    })
    peer.resume()
    while (received < requests.length * 2 * long.length) await turn()
    expect(begun).toBe(requests.length)
    expect(peak).toBeLessThan(maxInFlight * answer)
    peer.destroy()
  })
})

test('at most 16 messages of a socket are in work, however many came at once', async () => {
  let working = 0
  let most = 0
  await using server = await listenForSockets((connection, text) => ({
    async run() {
      working += 1
      most = Math.max(most, working)
      await turn()
      working -= 1
      await connection.send(text)
    },
  }))
  await using peer = await openSocket(server.url, ['test'])
  for (const id of requests) peer.send({ id })
  for (const id of requests) await peer.answer(id)
  expect(most).toBe(maxInFlight)
})

test('a client is not read on while it has as much waiting as it may', async () => {
  const prepare = vi.fn(() => ({ run: () => new Promise<void>(() => {}) }))
  const authenticate = async () => principal('ada')
  await using server = await listenForSockets(prepare, { context: { authenticate } })
  const upgraded = server.upgraded()
  await using peer = await openSocket(server.url, ['test', 'bearer.token'])
  const wire = await upgraded
  const megabyte = 'x'.repeat(1024 * 1024)
  for (let sent = 0; sent < maxInFlight + maxQueued; sent++) peer.send(megabyte)
  // All slots are busy and one message is queued; further messages are unread, and the client keeps the rest.
  while (!wire.isPaused()) await turn()
  const unsent = peer.socket.bufferedAmount
  expect(prepare).toHaveBeenCalledTimes(maxInFlight + 1)
  expect(unsent).toBeGreaterThan(50 * megabyte.length)
})

describe('a cancellation', () => {
  test('passes the requests that wait, and those that it cancels are never run', async () => {
    const ran: number[] = []
    let onCall = () => {}
    await using server = await listenWith((input) => {
      ran.push((input as { id: number }).id)
      onCall()
      return new Promise(() => {})
    })
    const begun = (count: number) =>
      new Promise<void>((resolve) => {
        onCall = () => {
          if (ran.length === count) resolve()
        }
        onCall()
      })
    await using peer = await openSocket(`http://127.0.0.1:${server.port}/mcp/ws`, ['mcp'])
    for (let id = 1; id <= maxInFlight + 4; id++) peer.send(call(id))
    await begun(maxInFlight)
    peer.send(cancel(maxInFlight + 2))
    for (const id of [1, 2, 3]) peer.send(cancel(id))
    await begun(maxInFlight + 3)
    expect(ran).toEqual([...requests.slice(0, maxInFlight), 17, 19, 20])
  })
})

describe('a socket that closes', () => {
  test('cancels its running and its queued messages', async () => {
    const full = Promise.withResolvers<void>()
    const signals: AbortSignal[] = []
    await using server = await listenWith((_, { signal }) => {
      if (signals.push(signal) === maxInFlight) full.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const upgraded = server.upgraded()
    const peer = await openSocket(`http://127.0.0.1:${server.port}/mcp/ws`, ['mcp'])
    const wire = await upgraded
    for (const id of requests.slice(0, 30)) peer.send(call(id))
    await full.promise
    const closed = once(wire, 'close')
    await peer[Symbol.asyncDispose]()
    await closed
    await turn()
    expect(signals).toHaveLength(maxInFlight)
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
  })

  test('by our doing runs nothing more of what waits', async () => {
    const run = vi.fn()
    await using server = await listenForSockets((connection) => ({
      async run() {
        run()
        await turn()
        connection.close(1008, 'Enough.')
      },
    }))
    await using peer = await openSocket(server.url, ['test'])
    const closed = once(peer.socket, 'close')
    for (const id of requests) peer.send({ id })
    expect((await closed)[0]).toBe(1008)
    expect(run.mock.calls.length).toBeLessThanOrEqual(maxInFlight)
  })
})
