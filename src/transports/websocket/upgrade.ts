import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalOf } from '../../auth/bearer.ts'
import { maximumBytes } from '../http/body.ts'
import { clientOf } from '../shared/client-address.ts'
import type { RefuseHost } from '../shared/hosts.ts'
import { secretInAddress } from '../shared/secrets.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import { type Connection, connect, type Patience } from './connection.ts'
import { createSeats, noRoom, type SeatLimits } from './connection-limit.ts'
import { refuse } from './refuse.ts'

/** A path that speaks over WebSocket. `subprotocol` is asked for; a client must offer it where `required`. */
export interface SocketEndpoint {
  readonly path: string
  readonly subprotocol: string
  readonly required: boolean
  open(connection: Connection): void
}

export interface UpgradeOptions extends SeatLimits, Patience {
  readonly context: Pick<TransportContext, 'authenticate' | 'onError' | 'site' | 'trusted_proxies'>
  readonly sockets: readonly SocketEndpoint[]
  /** Which names we answer to; every one unless told. */
  readonly refuseHost?: RefuseHost
  /** Whether a page of this origin may connect; clients that are not browsers send none. */
  readonly allowsOrigin: (origin: string) => boolean
}

export interface Upgrades {
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** Asks anew who calls on each open socket; one whose token no longer holds closes with 1008. */
  identify(): Promise<void>
  /** Lets each socket answer what it has in flight, then closes it with 1001. */
  close(): Promise<void>
  /** Ends every socket at once, accepted or not. */
  destroy(): void
}

interface Admission {
  readonly target: SocketEndpoint
  readonly authorization: string | undefined
}

const tokenPrefix = 'bearer.'

/**
 * Decides every upgrade before the handshake, in this order: Host, path, Origin, subprotocol, room, token, room for
 * this caller. A refusal is a plain HTTP answer. The token comes in the Authorization header or, for browsers,
 * as a subprotocol `bearer.TOKEN`, never in the query.
 */
export function createUpgrades(options: UpgradeOptions): Upgrades {
  const { context, sockets, allowsOrigin, refuseHost = () => undefined } = options
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maximumBytes,
    handleProtocols(offered, request) {
      const own = targetOf(request)?.subprotocol
      return own !== undefined && offered.has(own) ? own : false
    },
  })
  const seats = createSeats(options)
  const wires = new Set<Duplex>()
  const connections = new Set<Connection>()
  let closing = false

  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const drop = () => socket.destroy()
    socket.on('error', drop)
    wires.add(socket)
    socket.once('close', () => wires.delete(socket))
    try {
      const admission = admit(request)
      const principal = await principalOf(admission.authorization, context.authenticate)
      if (socket.destroyed) return
      assertOpen()
      socket.once('close', seats.take(principal, clientOf(context, request).address))
      socket.off('error', drop)
      server.handleUpgrade(request, socket, head, (webSocket) => start(webSocket, admission, request))
    } catch (thrown) {
      refuse(context, request, socket, failureOf(context, thrown))
    }
  }

  function admit(request: IncomingMessage): Admission {
    const refusal = refuseHost(request) ?? secretInAddress(request.url)
    if (refusal) throw refusal
    const target = targetOf(request)
    if (!target) throw new Failure('not_found', `No WebSocket is served at ${pathOf(request)}.`)
    const { origin, authorization } = request.headers
    if (origin !== undefined && !allowsOrigin(origin)) {
      throw new Failure('forbidden', `Pages of ${origin} may not connect.`, {
        hint: 'The operator allows web origins with DRAGOMAN_ALLOWED_WEB_ORIGINS.',
      })
    }
    const offered = offeredBy(request)
    const token = offered.find(isToken)?.slice(tokenPrefix.length)
    if (!offered.includes(target.subprotocol) && (target.required || mereToken(offered))) {
      throw new Failure('invalid_request', `Offer the subprotocol ${target.subprotocol}.`, {
        ...(token !== undefined && { hint: 'Offer it beside the token, which is never echoed.' }),
      })
    }
    assertOpen()
    seats.assertRoom()
    return { target, authorization: authorization ?? (token === undefined ? undefined : `Bearer ${token}`) }
  }

  function start(webSocket: WebSocket, { target, authorization }: Admission, request: IncomingMessage): void {
    const connection = connect(webSocket, {
      ...options,
      onError: context.onError,
      client: clientOf(context, request),
      wire: request.socket,
      identify: (): Principal | null | Promise<Principal> => principalOf(authorization, context.authenticate),
      closed: () => connections.delete(connection),
    })
    connections.add(connection)
    target.open(connection)
  }

  function targetOf(request: IncomingMessage): SocketEndpoint | undefined {
    const path = pathOf(request)
    return sockets.find((one) => one.path === path)
  }

  function assertOpen(): void {
    if (closing) throw noRoom('The gateway is shutting down.')
  }

  return {
    accept,
    async identify() {
      await Promise.all([...connections].map((connection) => connection.identify()))
    },
    async close() {
      closing = true
      await Promise.all([...connections].map((connection) => connection.drain()))
    },
    destroy() {
      for (const wire of wires) wire.destroy()
    },
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? ''
}

function offeredBy(request: IncomingMessage): string[] {
  return (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

function isToken(protocol: string): boolean {
  return protocol.startsWith(tokenPrefix)
}

/** A browser closes a socket that selects none of what it offered, and a token is never selected. */
function mereToken(offered: readonly string[]): boolean {
  return offered.length > 0 && offered.every(isToken)
}
