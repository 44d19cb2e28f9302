import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'
import { noLimits } from '../../src/router/limiter.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { principal } from '../support/router.ts'
import { openSocket, Refused } from '../support/socket.ts'
import { askByHand, listenForSockets } from '../support/upgrades.ts'

const nothing = () => ({ run: async () => {} })

async function refusal(opening: Promise<unknown>): Promise<Refused> {
  const fault = await opening.then(
    () => undefined,
    (thrown) => thrown,
  )
  expect(fault).toBeInstanceOf(Refused)
  return fault
}

describe('a refused upgrade', () => {
  test('names the paths at which sockets are served', async () => {
    await using home = await startGateway()
    const peer = await askByHand(Number(new URL(home.url).port), '/ws')
    const [answer] = await once(peer, 'data')
    expect(String(answer)).toMatch(/WebSockets are served at .*\/rpc/)
    peer.destroy()
  })

  test('does not delay a shutdown although its peer never closes', async () => {
    await using home = await startGateway()
    const peer = await askByHand(Number(new URL(home.url).port), '/elsewhere')
    const [answer] = await once(peer, 'data')
    expect(String(answer)).toContain('HTTP/1.1 404')
    await home.server[Symbol.asyncDispose]()
    peer.destroy()
  }, 5000)

  test('is one that was being decided when the gateway began to close', async () => {
    const requested = Promise.withResolvers<void>()
    const verified = Promise.withResolvers<Principal>()
    const authenticate = () => {
      requested.resolve()
      return verified.promise
    }
    await using server = await listenForSockets(nothing, { context: { authenticate } })
    const refused = refusal(openSocket(server.url, ['test', 'bearer.token']))
    await requested.promise
    await server.upgrades.close()
    verified.resolve(principal('somebody'))
    const { status, headers } = await refused
    expect(status).toBe(503)
    expect(headers['retry-after']).toBe('5')
  })
})

test('an upgrade is charged to its caller, whether it is accepted or not', async () => {
  const charged: (string | null)[] = []
  const limits: typeof noLimits = {
    ...noLimits,
    charge: ({ principal }) => void charged.push(principal?.subject ?? null),
  }
  const authenticate = async () => principal('ada')
  await using server = await listenForSockets(nothing, { context: { limits, authenticate } })
  await refusal(openSocket(server.url.replace('/test', '/elsewhere'), ['test']))
  expect(charged).toEqual([null])
  await openSocket(server.url, ['test', 'bearer.token'])
  expect(charged).toEqual([null, 'ada'])
})

test('destroying ends sockets that are accepted and those that are not yet', async () => {
  const requested = Promise.withResolvers<void>()
  const authenticate = () => {
    requested.resolve()
    return new Promise<Principal>(() => {})
  }
  await using server = await listenForSockets(nothing, { context: { authenticate } })
  const accepted = await openSocket(server.url, ['test'])
  const undecided = await askByHand(server.port, '/test', 'test, bearer.token')
  await requested.promise
  const ended = [once(accepted.socket, 'close'), once(undecided.resume(), 'end')]
  server.upgrades.destroy()
  await Promise.all(ended)
  undecided.destroy()
})

describe('the limit for one caller', () => {
  const authenticate = async (token: string) => principal(token)
  const limits = { max_connections: 5, max_per_address: 2, max_per_subject: 1, context: { authenticate } }
  const running = () => ({ run: () => new Promise<void>(() => {}) })

  test('ends before that of all others', async () => {
    await using stack = new AsyncDisposableStack()
    const begun = vi.fn(running)
    const server = stack.use(await listenForSockets(begun, limits))
    const open = async (protocols: string[]) => {
      const peer = stack.use(await openSocket(server.url, protocols))
      peer.send('a call that runs')
      calls += 1
      await expect.poll(() => begun.mock.calls.length).toBe(calls)
    }
    let calls = 0

    await open(['test'])
    await open(['test'])
    const { status, headers, body } = await refusal(open(['test']))
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect(JSON.parse(body)).toMatchObject({ code: 'unavailable', retryable: true })
    expect(JSON.parse(body).detail).toContain('2 sockets')

    await open(['test', 'bearer.one'])
    expect((await refusal(open(['test', 'bearer.one']))).status).toBe(503)
    await open(['test', 'bearer.two'])

    await open(['test', 'bearer.three'])
    expect((await refusal(open(['test', 'bearer.four']))).body).toContain('No more sockets')
  })

  test('half of all sockets are kept for callers with tokens, and an idle one without a token makes room', async () => {
    await using stack = new AsyncDisposableStack()
    const server = stack.use(
      await listenForSockets(nothing, { max_connections: 4, context: { authenticate } }),
    )
    const open = async (protocols: string[]) => stack.use(await openSocket(server.url, protocols))
    const [first, second] = [await open(['test']), await open(['test'])]
    // The first one is used last.
    first.send('a message')
    await open(['test', 'bearer.one'])
    const closed = once(second.socket, 'close')
    const third = await open(['test'])
    expect((await closed)[0]).toBe(1013)
    expect([first.socket.readyState, third.socket.readyState]).toEqual([1, 1])
    await open(['test', 'bearer.two'])
    const next = once(first.socket, 'close')
    await open(['test', 'bearer.three'])
    expect((await next)[0]).toBe(1013)
  })

  test('comes back when a socket closes', async () => {
    await using server = await listenForSockets(nothing, { max_per_address: 1 })
    const upgraded = server.upgraded()
    const peer = await openSocket(server.url, ['test'])
    const left = once(await upgraded, 'close')
    await peer[Symbol.asyncDispose]()
    await left
    await using again = await openSocket(server.url, ['test'])
    expect(again.socket.protocol).toBe('test')
  })

  test('is 64 for an address without a token, and 256 for a subject', async () => {
    await using stack = new AsyncDisposableStack()
    const server = stack.use(await listenForSockets(nothing, { context: { authenticate } }))
    const open = async (count: number, protocols: string[]) => {
      for (let opened = 0; opened < count; opened++) stack.use(await openSocket(server.url, protocols))
    }
    await open(64, ['test'])
    expect((await refusal(openSocket(server.url, ['test']))).status).toBe(503)
    await open(256, ['test', 'bearer.one'])
    expect((await refusal(openSocket(server.url, ['test', 'bearer.one']))).status).toBe(503)
    await open(1, ['test', 'bearer.two'])
  })
})

describe('the subprotocol', () => {
  let home: TestGateway
  beforeAll(async () => {
    home = await startGateway()
  })
  afterAll(() => home[Symbol.asyncDispose]())

  test.each([
    ['/mcp/ws', 'foo, mcp', 'mcp'],
    ['/mcp/ws', '', undefined],
    ['/rpc', 'foo, jsonrpc', 'jsonrpc'],
    ['/rpc', 'foo, bar', undefined],
    ['/rpc', '', undefined],
  ])('of %s offered "%s" is %s', async (path, offered, selected) => {
    const peer = await askByHand(Number(new URL(home.url).port), path, offered)
    const [answer] = await once(peer, 'data')
    peer.destroy()
    expect(String(answer)).toContain('HTTP/1.1 101')
    expect(/^Sec-WebSocket-Protocol: (.*)\r$/m.exec(String(answer))?.[1]).toBe(selected)
  })

  test('must be offered beside a token', async () => {
    const token = await home.token('somebody')
    const { status, body } = await refusal(openSocket(`${home.url}/rpc`, [`bearer.${token}`]))
    expect(status).toBe(400)
    expect(JSON.parse(body)).toMatchObject({
      code: 'invalid_request',
      detail: 'Offer the subprotocol jsonrpc.',
      hint: expect.stringContaining('in addition to the token'),
    })
  })
})

test('a closed socket is watched no more, and an open one closes with 1008 when its token ends', async () => {
  const watched = new Set<() => void>()
  const standing = {
    watch(_: unknown, end: (reason: Failure) => void) {
      const lapse = () => end(new Failure('unauthenticated', 'The token has expired.'))
      watched.add(lapse)
      return () => watched.delete(lapse)
    },
  }
  const context = { authenticate: async () => principal('ada'), standing }
  await using server = await listenForSockets(nothing, { context })
  const upgraded = server.upgraded()
  const closing = await openSocket(server.url, ['test', 'bearer.token'])
  const wire = await upgraded
  await using open = await openSocket(server.url, ['test', 'bearer.token'])
  const closed = once(wire, 'close')
  await closing[Symbol.asyncDispose]()
  await closed
  await expect.poll(() => watched.size).toBe(1)
  const ended = once(open.socket, 'close')
  for (const lapse of watched) lapse()
  expect((await ended)[0]).toBe(1008)
})
