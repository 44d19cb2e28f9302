import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createRawServer, type Server, type Socket } from 'node:net'
import type { Lookup } from '../../src/net/fetch/connector.ts'

export interface TestServer extends AsyncDisposable {
  readonly port: number
  readonly origin: string
  readonly hits: () => number
}

/** A real HTTP server on a loopback address that counts what reaches it. */
export async function serve(listener: RequestListener, host = '127.0.0.1', port = 0): Promise<TestServer> {
  let hits = 0
  // A test that keeps this process busy for longer than Node's five seconds would find its connection reset.
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    hits++
    listener(request, response)
  })
  return listening(
    server,
    host,
    port,
    () => hits,
    () => server.closeAllConnections(),
  )
}

/** A TCP server for answers that no HTTP library sends. */
export async function serveRaw(answer: (socket: Socket) => void): Promise<TestServer> {
  const sockets = new Set<Socket>()
  const server = createRawServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  return listening(
    server,
    '127.0.0.1',
    0,
    () => sockets.size,
    () => {
      for (const socket of sockets) socket.destroy()
    },
  )
}

async function listening(
  server: Server,
  host: string,
  port: number,
  hits: () => number,
  drop: () => void,
): Promise<TestServer> {
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    hits,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      drop()
      await closed
    },
  }
}

/** A test name server: the answers of each name are used up one by one, and the last one stays. */
export function resolver(names: Readonly<Record<string, readonly (readonly string[])[]>>): Lookup {
  const requests = new Map<string, number>()
  return (hostname, _options, callback) => {
    const answers = names[hostname]
    // As Node's own does, without a second argument.
    if (!answers)
      return callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), undefined as never)
    const turn = requests.get(hostname) ?? 0
    requests.set(hostname, turn + 1)
    const addresses = answers[Math.min(turn, answers.length - 1)] ?? []
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
}

/** The rejection of a promise. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => Promise.reject(new Error(`resolved: ${JSON.stringify(value)?.slice(0, 200)}`)),
    (error: unknown) => error,
  )
}
