import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type HttpLimits, limitConnections } from '../../src/transports/http/connections.ts'
import { listen } from '../../src/transports/shared/listen.ts'

interface TestServer extends AsyncDisposable {
  readonly server: Server
  /** Opens a connection and waits until the server has it. */
  open(localAddress?: string): Promise<Socket>
}

async function serve(
  limits: HttpLimits,
  answer: (response: ServerResponse) => void,
  proxies: readonly string[] = [],
): Promise<TestServer> {
  const server = createServer((_, response) => answer(response))
  limitConnections(server, { trusted_proxies: new Set(proxies) }, limits)
  const port = await listen(server, { host: '127.0.0.1', port: 0, hint: '' })
  const opened: Socket[] = []
  return {
    server,
    async open(localAddress = '127.0.0.1') {
      const accepted = once(server, 'connection')
      const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
      opened.push(socket)
      await Promise.all([once(socket, 'connect'), accepted])
      return socket
    },
    async [Symbol.asyncDispose]() {
      for (const socket of opened) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const isOpen = (sockets: readonly Socket[]) => sockets.map((socket) => !socket.closed)

test('at the limit of an address its connection that has been idle longest is closed, unless it is in use', async () => {
  const requested = Promise.withResolvers<void>()
  await using home = await serve({ max_per_address: 3 }, () => requested.resolve())
  const sockets = [await home.open(), await home.open(), await home.open()]
  for (const socket of sockets) socket.resume()
  sockets[0]?.write(request)
  await requested.promise
  const gone = once(sockets[1] as Socket, 'close')
  sockets.push(await home.open())
  await gone
  expect(isOpen(sockets)).toEqual([true, false, true, true])
})

test('a connection whose last request is newer stays open longer', async () => {
  await using home = await serve({ max_per_address: 3 }, (response) => response.end())
  const sockets = [await home.open(), await home.open(), await home.open()]
  for (const number of [1, 0]) {
    const answered = once(sockets[number] as Socket, 'data')
    sockets[number]?.write(request)
    await answered
  }
  for (const last of [2, 1]) {
    const gone = once(sockets[last]?.resume() as Socket, 'close')
    sockets.push(await home.open())
    await gone
  }
  expect(isOpen(sockets)).toEqual([true, false, false, true, true])
})

test('a new connection is closed where all others are in use', async () => {
  let requests = 0
  const all = Promise.withResolvers<void>()
  await using home = await serve(
    { max_connections: 2, max_per_address: 3 },
    () => ++requests === 2 && all.resolve(),
  )
  for (const socket of [await home.open(), await home.open()]) socket.write(request)
  await all.promise
  const late = await home.open()
  if (!late.resume().closed) await once(late, 'close')
})

test('where all are in use, the address with the most connections loses one to an address with fewer', async () => {
  let requests = 0
  const all = Promise.withResolvers<void>()
  await using home = await serve(
    { max_connections: 4, max_per_address: 4 },
    () => ++requests === 4 && all.resolve(),
  )
  const single = await home.open('127.0.0.2')
  const many = [await home.open(), await home.open(), await home.open()]
  for (const socket of [single, ...many]) socket.resume().write(request)
  await all.promise
  const gone = Promise.race(many.map((socket) => once(socket, 'close')))
  const late = await home.open('127.0.0.3')
  late.resume()
  await gone
  expect(isOpen([single, late])).toEqual([true, true])
  expect(isOpen(many).filter(Boolean)).toHaveLength(2)
})

test('a trusted proxy may hold any number of connections', async () => {
  await using home = await serve({ max_per_address: 1 }, () => {}, ['127.0.0.1'])
  const sockets = [await home.open(), await home.open(), await home.open()]
  for (const socket of sockets) socket.resume()
  await turn()
  expect(isOpen(sockets)).toEqual([true, true, true])
})

const long = Buffer.alloc(4 * 1024 * 1024, 'x')

test('an answer that nobody reads is cut off, and one that is read slowly is not', async () => {
  const longer = Buffer.alloc(32 * 1024 * 1024, 'x')
  const limits = { stall_ms: 1000, max_unread: 2 * longer.length, max_unread_in_all: 4 * longer.length }
  await using home = await serve(limits, (response) => response.end(longer))
  const [deaf, slow] = [await home.open(), await home.open()]
  const accepted: Socket[] = []
  home.server.on('request', ({ socket }) => accepted.push(socket))
  slow.on('data', () => {
    slow.pause()
    setTimeout(() => slow.resume(), 2)
  })
  slow.write(request)
  await once(home.server, 'request')
  deaf.write(request)
  await once(home.server, 'request')
  const [slowPeer, deafPeer] = accepted
  await once(deafPeer as Socket, 'close')
  expect(slowPeer?.destroyed).toBe(false)
})

test('of all unread answers together only so many bytes are kept', async () => {
  const limit = 12 * 1024 * 1024
  let unread = 0
  const responses: ServerResponse[] = []
  await using home = await serve({ stall_ms: 10_000, max_unread_in_all: limit }, (response) => {
    responses.push(response)
    response.end(long)
  })
  const sockets = await Promise.all(Array.from({ length: 8 }, () => home.open()))
  for (const socket of sockets) socket.write(request)
  while (responses.length < sockets.length) await turn()
  const unreadBytes = () =>
    responses.reduce((sum, { socket }) => sum + (socket?.destroyed ? 0 : (socket?.writableLength ?? 0)), 0)
  unread = unreadBytes()
  expect(unread).toBeGreaterThan(limit)
  while (unreadBytes() > limit) await turn()
  expect(responses.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(0)
})

test('a connection with more unread bytes than one may have is closed', async () => {
  await using home = await serve({ max_unread: 1024 * 1024, stall_ms: 1000 }, (response) =>
    response.end(long),
  )
  const socket = await home.open()
  socket.write(request)
  const [accepted] = await once(home.server, 'request')
  await once(accepted.socket, 'close')
})
