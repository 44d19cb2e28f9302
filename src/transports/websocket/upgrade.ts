import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { codes, Failure, problem } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalOf } from '../../auth/bearer.ts'
import { resourceAt } from '../../auth/resources.ts'
import { costs, type LimitedCaller } from '../../router/limiter.ts'
import { challenge } from '../http/challenge.ts'
import { requestId } from '../http/request-id.ts'
import { retryHeaders } from '../http/respond.ts'
import { clientOf } from '../shared/client-address.ts'
import type { RefuseHost } from '../shared/hosts.ts'
import { localLimits, type MessageLimits, messageLimits } from '../shared/message.ts'
import { type AllowsOrigin, assertOrigin } from '../shared/origins.ts'
import { repeatedField } from '../shared/repeated-fields.ts'
import { secretInAddress } from '../shared/secrets.ts'
import { authenticated, failureOf, type TransportContext } from '../shared/transport-context.ts'
import { Backlog, type BacklogLimits } from './backlog.ts'
import { Connection, type ConnectionOptions, type SocketTimeouts } from './connection.ts'
import { ConnectionLimit, type ConnectionLimits, unavailable } from './connection-limit.ts'

/** A path that is served over WebSocket. A client may leave the `subprotocol` out. */
export interface SocketEndpoint {
  readonly path: string
  readonly subprotocol: string
  open(connection: Connection): void
}

export interface UpgradeOptions extends ConnectionLimits, BacklogLimits, SocketTimeouts {
  readonly context: Pick<
    TransportContext,
    'authenticate' | 'limits' | 'onError' | 'site' | 'standing' | 'trusted_proxies'
  >
  readonly sockets: readonly SocketEndpoint[]
  /** Refuses requests for other host names; when absent, every name is accepted. */
  readonly refuseHost?: RefuseHost
  readonly allowsOrigin: AllowsOrigin
}

interface Admission {
  readonly endpoint: SocketEndpoint
  readonly authorization: string | undefined
}

const tokenPrefix = 'bearer.'

/**
 * Decides every upgrade before the handshake, in this order: Host, path, Origin, subprotocol, token, number of sockets
 * of this caller, number of all sockets. At the last limit, the socket without a token that has been idle longest is
 * closed. A refusal is a plain HTTP answer. The token is in the Authorization header
 * or, from browsers, in a subprotocol `bearer.TOKEN`, never in the query.
 */
export class Upgrades {
  readonly #options: UpgradeOptions
  readonly #server: WebSocketServer
  readonly #anonymousServer: WebSocketServer
  readonly #limit: ConnectionLimit
  readonly #backlog: Backlog
  /** All TCP sockets, before and after the upgrade. */
  readonly #wires = new Set<Duplex>()
  /** The open sockets; each function gives the place of its socket to another one. */
  readonly #connections = new Map<Connection, () => void>()
  #isClosing = false

  constructor(options: UpgradeOptions) {
    this.#options = options
    this.#backlog = new Backlog(options)
    this.#limit = new ConnectionLimit(options, () => this.#closeIdle())
    this.#server = this.#serverFor(localLimits)
    this.#anonymousServer = this.#serverFor(messageLimits(null))
  }

  #serverFor({ maxBytes }: MessageLimits): WebSocketServer {
    return new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      maxPayload: maxBytes,
      handleProtocols: (offered, request) => {
        const own = this.#endpointOf(request)?.subprotocol
        return own !== undefined && offered.has(own) ? own : false
      },
    })
  }

  async accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { context } = this.#options
    const drop = () => socket.destroy()
    socket.on('error', drop)
    this.#wires.add(socket)
    socket.once('close', () => this.#wires.delete(socket))
    const client = clientOf(context, request)
    let caller: LimitedCaller = { principal: null, client }
    try {
      const admission = this.#admit(request)
      const resource = resourceAt(request.url)
      const id = requestId(request)
      const principal = await authenticated(context, admission.authorization, client, resource, id)
      caller = { principal, client }
      if (socket.destroyed) return
      this.#assertOpen()
      const release = this.#limit.acquire(principal, client.address)
      socket.once('close', release)
      socket.off('error', drop)
      const server = principal ? this.#server : this.#anonymousServer
      server.handleUpgrade(request, socket, head, (webSocket) =>
        this.#start(webSocket, admission, { principal, client, wire: request.socket }, release),
      )
    } catch (thrown) {
      refuse(context, request, socket, failureOf(context, thrown))
    } finally {
      context.limits.charge(caller, costs.request)
    }
  }

  /** Lets each socket finish the messages that it has read, then closes it with 1001. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all([...this.#connections.keys()].map((connection) => connection.drain()))
  }

  /** Destroys every socket at once, before and after the upgrade. */
  destroy(): void {
    for (const wire of this.#wires) wire.destroy()
  }

  #admit(request: IncomingMessage): Admission {
    const { allowsOrigin, refuseHost } = this.#options
    const refusal = repeatedField(request) ?? refuseHost?.(request) ?? secretInAddress(request.url)
    if (refusal) throw refusal
    const endpoint = this.#endpointOf(request)
    if (!endpoint) throw this.#noSocketAt(pathOf(request))
    assertOrigin(request, allowsOrigin)
    const { authorization } = request.headers
    const offered = offeredBy(request)
    const token = offered.find(isToken)?.slice(tokenPrefix.length)
    if (isOnlyTokens(offered)) {
      throw new Failure('invalid_request', `Offer the subprotocol ${endpoint.subprotocol}.`, {
        hint: 'Offer it in addition to the token, which is never echoed.',
      })
    }
    this.#assertOpen()
    return { endpoint, authorization: authorization ?? (token === undefined ? undefined : `Bearer ${token}`) }
  }

  #start(
    webSocket: WebSocket,
    { endpoint, authorization }: Admission,
    peer: Pick<ConnectionOptions, 'principal' | 'client' | 'wire'>,
    release: () => void,
  ): void {
    const { context } = this.#options
    const connection = new Connection(webSocket, {
      ...this.#options,
      ...peer,
      onError: context.onError,
      limits: context.limits,
      backlog: this.#backlog,
      identify: (): Principal | null | Promise<Principal> =>
        principalOf(authorization, context.authenticate, resourceAt(endpoint.path)),
      onClose: () => this.#connections.delete(connection),
    })
    this.#connections.set(connection, release)
    connection.onClose(context.standing.watch(peer.principal, () => connection.endToken()))
    endpoint.open(connection)
  }

  #closeIdle(): boolean {
    const idle = [...this.#connections].filter(([connection]) => connection.isIdle)
    const [first] = idle.toSorted(([a], [b]) => a.usedAt - b.usedAt)
    if (!first) return false
    const [connection, release] = first
    this.#connections.delete(connection)
    release()
    connection.giveUp('Others need this socket, which was idle.')
    return true
  }

  #endpointOf(request: IncomingMessage): SocketEndpoint | undefined {
    const path = pathOf(request)
    return this.#options.sockets.find((endpoint) => endpoint.path === path)
  }

  #noSocketAt(path: string): Failure {
    const paths = this.#options.sockets.map((endpoint) => endpoint.path)
    return new Failure('not_found', `No WebSocket is served at ${path}.`, {
      hint: `WebSockets are served at ${paths.join(', ')}.`,
    })
  }

  #assertOpen(): void {
    if (this.#isClosing) throw unavailable('The gateway is shutting down.')
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? ''
}

function offeredBy(request: IncomingMessage): string[] {
  return (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '')
}

function isToken(protocol: string): boolean {
  return protocol.startsWith(tokenPrefix)
}

/**
 * A browser closes a socket if the server selects none of the offered subprotocols, and a token is never selected.
 */
function isOnlyTokens(offered: readonly string[]): boolean {
  return offered.length > 0 && offered.every(isToken)
}

const lingerMilliseconds = 500

/**
 * Answers an upgrade with a plain HTTP failure, and destroys the socket even if the peer neither reads nor closes.
 */
function refuse(
  context: Pick<TransportContext, 'site'>,
  request: IncomingMessage,
  socket: Duplex,
  failure: Failure,
): void {
  const { http } = codes[failure.code]
  const body = JSON.stringify(problem(failure, requestId(request)))
  const headers = {
    ...challenge(context, request, failure),
    ...retryHeaders(failure.details),
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const linger = setTimeout(() => socket.destroy(), lingerMilliseconds)
  socket.once('close', () => clearTimeout(linger))
  // Discards further data of the peer: closing with unread data would reset the answer.
  socket.resume()
  socket.end(`HTTP/1.1 ${http} ${failure.code}\r\n${lines.join('')}\r\n${body}`)
}
