import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { AddressSet } from '../../common/address-set.ts'
import { clientAt, peerOf } from '../shared/client-address.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { isSignedIn } from './caller.ts'

export interface HttpLimits {
  /** Maximum TCP connections of the server. */
  readonly max_connections?: number
  /** Maximum TCP connections from one address that is not a trusted proxy; half of all when absent. */
  readonly max_per_address?: number
  /** Maximum unread bytes of one connection. */
  readonly max_unread?: number
  /** Maximum unread bytes of all connections. */
  readonly max_unread_in_all?: number
  /** Maximum time for which sent data may stay unread by the peer, in milliseconds. */
  readonly stall_ms?: number
}

interface Connection {
  readonly address: string
  /** Requests in progress. */
  busy: number
  /** When it was last used: the number of connections and requests of the server until then. */
  used: number
  latest?: IncomingMessage
  signedIn: boolean
  /** The socket has a time-out because its peer has data to read. */
  isTimed: boolean
}

const standard: Omit<Required<HttpLimits>, 'max_per_address'> = {
  max_connections: 4096,
  max_unread: 8 * 1024 * 1024,
  max_unread_in_all: 32 * 1024 * 1024,
  stall_ms: 10_000,
}
const looksPerStall = 20
/** Time for the rest of a request to a server that stops: it may have been sent already. */
const arrivalMilliseconds = 250

/**
 * Bounds the TCP connections of a server and the answers that their peers do not read. At a limit, the connection
 * without a token that has been idle longest is closed. If all are in use, it is one of the address that has the most of
 * them, or the new one if no address has more than that of the new one. The returned function is for a server that stops:
 * called again and again, it closes the connections on which no whole request has come a moment after the first call.
 * Node does not count them as idle.
 */
export function limitConnections(
  server: Server,
  { trusted_proxies }: Pick<TransportContext, 'trusted_proxies'>,
  limits: HttpLimits,
): () => void {
  const { max_connections } = { ...standard, ...limits }
  const all = { ...standard, max_per_address: Math.ceil(max_connections / 2), ...limits }
  const connections = new HttpConnections(all, trusted_proxies)
  server.on('connection', (socket) => connections.add(socket))
  server.prependListener('request', (request, response) => connections.track(request, response))
  server.prependListener('upgrade', ({ socket }) => connections.remove(socket))
  const timer = setInterval(() => connections.closeUnread(), all.stall_ms / looksPerStall).unref()
  server.once('close', () => clearInterval(timer))
  let stopped_at: number | undefined
  return () => {
    stopped_at ??= performance.now()
    if (performance.now() - stopped_at >= arrivalMilliseconds) connections.closeUnused()
  }
}

class HttpConnections {
  readonly #limits: Required<HttpLimits>
  readonly #proxies: AddressSet
  readonly #open = new Map<Socket, Connection>()
  #uses = 0
  readonly #perAddress = new Map<string, number>()

  constructor(limits: Required<HttpLimits>, proxies: AddressSet) {
    this.#limits = limits
    this.#proxies = proxies
  }

  /** Called for each request: its connection is in use until the answer has ended. */
  track(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const connection = this.#open.get(socket)
    if (!connection) return
    connection.busy += 1
    connection.used = ++this.#uses
    connection.latest = request
    response.once('close', () => {
      connection.busy -= 1
      connection.signedIn = isSignedIn(request)
    })
  }

  /** Closes connections whose peers do not read, and those with the most unread data while all have too much. */
  closeUnread(): void {
    const unread: { socket: Socket; bytes: number }[] = []
    let total = 0
    for (const [socket, connection] of this.#open) {
      const bytes = socket.writableLength
      this.#time(socket, connection, bytes > 0)
      if (bytes > this.#limits.max_unread) socket.destroy()
      else if (bytes > 0) {
        unread.push({ socket, bytes })
        total += bytes
      }
    }
    if (total <= this.#limits.max_unread_in_all) return
    for (const { socket, bytes } of unread.toSorted((a, b) => b.bytes - a.bytes)) {
      if (total <= this.#limits.max_unread_in_all) break
      socket.destroy()
      total -= bytes
    }
  }

  /** Node counts each byte that the peer reads as activity, even within one long answer. */
  #time(socket: Socket, connection: Connection, isUnread: boolean): void {
    const { stall_ms } = this.#limits
    if (isUnread === connection.isTimed) return
    connection.isTimed = isUnread
    if (isUnread) socket.setTimeout(stall_ms)
    // The server itself gives the connection a time-out when its answer has ended.
    else if (socket.timeout === stall_ms) socket.setTimeout(0)
  }

  closeUnused(): void {
    for (const [socket, { busy }] of this.#open) if (busy === 0) socket.destroy()
  }

  add(socket: Socket): void {
    const { address } = clientAt(socket)
    const { max_connections, max_per_address } = this.#limits
    const isCounted = !this.#proxies.has(peerOf(socket))
    const count = this.#perAddress.get(address) ?? 0
    if (isCounted && count >= max_per_address && !this.#closeIdle(address)) return void socket.destroy()
    const hasRoom = this.#open.size < max_connections || this.#closeIdle() || this.#closeInUse(count + 1)
    if (!hasRoom) return void socket.destroy()
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1)
    this.#open.set(socket, { address, busy: 0, used: ++this.#uses, signedIn: false, isTimed: false })
    socket.once('close', () => this.remove(socket))
  }

  /** Called for a connection that has closed, or that becomes a WebSocket: those have limits of their own. */
  remove(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (!connection) return
    const { address } = connection
    this.#open.delete(socket)
    const left = (this.#perAddress.get(address) ?? 1) - 1
    if (left > 0) this.#perAddress.set(address, left)
    else this.#perAddress.delete(address)
  }

  /** Closes the idle connection without a token that was used first, of this address or of all; false if there is none. */
  #closeIdle(address?: string): boolean {
    return this.#closeFirst(
      (connection) => connection.busy === 0 && (address === undefined || connection.address === address),
    )
  }

  /** Closes a connection of the address that has the most, if those are more than `share`. */
  #closeInUse(share: number): boolean {
    const larger = [...this.#perAddress].filter(([, count]) => count > share)
    return larger
      .toSorted(([, a], [, b]) => b - a)
      .some(([address]) =>
        this.#closeFirst(
          (connection, socket) => connection.address === address && !this.#proxies.has(peerOf(socket)),
        ),
      )
  }

  #closeFirst(chosen: (connection: Connection, socket: Socket) => boolean): boolean {
    let first: Socket | undefined
    let used = Number.POSITIVE_INFINITY
    for (const [socket, connection] of this.#open) {
      if (connection.used >= used || hasToken(connection) || !chosen(connection, socket)) continue
      first = socket
      used = connection.used
    }
    if (!first) return false
    first.destroy()
    this.remove(first)
    return true
  }
}

function hasToken({ signedIn, latest }: Connection): boolean {
  return signedIn || (latest !== undefined && isSignedIn(latest))
}
