import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { codes, Failure, problem } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalOf } from '../../auth/bearer.ts'
import type { Door } from '../door.ts'
import { maximumBytes } from '../http/body.ts'
import { requestId } from '../http/identity.ts'
import { challenge } from '../http/respond.ts'
import { type Connection, connect } from './connection.ts'

/** A path that speaks over WebSocket. `subprotocol` is asked for; a client must offer it where `required`. */
export interface SocketDoor {
  readonly path: string
  readonly subprotocol: string
  readonly required: boolean
  open(connection: Connection): void
}

export interface UpgradeOptions {
  readonly door: Door
  readonly sockets: readonly SocketDoor[]
  /** Whether a page of this origin may connect; clients that are not browsers send none. */
  readonly allowsOrigin: (origin: string) => boolean
  readonly most_connections?: number
}

export interface Upgrades {
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** Lets each socket answer what it has in flight, then closes it with 1001. */
  close(): Promise<void>
}

const tokenPrefix = 'bearer.'

/**
 * Decides every upgrade before the handshake, in this order: path, Origin, subprotocol, room, token. A refusal
 * is a plain HTTP answer. The token comes in the Authorization header or, for browsers, as a subprotocol
 * `bearer.TOKEN`, never in the query.
 */
export function createUpgrades({
  door,
  sockets,
  allowsOrigin,
  most_connections = 1000,
}: UpgradeOptions): Upgrades {
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maximumBytes,
    handleProtocols: (offered) => [...offered].find((one) => !one.startsWith(tokenPrefix)) ?? false,
  })
  const connections = new Set<Connection>()
  let closing = false

  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const drop = () => socket.destroy()
    socket.on('error', drop)
    try {
      const { target, authorization } = admit(request)
      const principal = await principalOf(authorization, door.authenticate)
      if (socket.destroyed) return
      socket.off('error', drop)
      server.handleUpgrade(request, socket, head, (webSocket) =>
        start(webSocket, target, authorization, principal, request),
      )
    } catch (thrown) {
      refuse(request, socket, Failure.from(thrown))
    }
  }

  function admit(request: IncomingMessage): { target: SocketDoor; authorization: string | undefined } {
    const path = (request.url ?? '').split('?')[0]
    const target = sockets.find((one) => one.path === path)
    if (!target) throw new Failure('not_found', `No WebSocket is served at ${path}.`)
    const { origin, authorization } = request.headers
    if (origin !== undefined && !allowsOrigin(origin)) {
      throw new Failure('forbidden', `Pages of ${origin} may not connect.`, {
        hint: 'The operator allows web origins with DRAGOMAN_ALLOWED_WEB_ORIGINS.',
      })
    }
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim())
    if (target.required && !offered.includes(target.subprotocol)) {
      throw new Failure('invalid_request', `Offer the subprotocol ${target.subprotocol}.`)
    }
    if (closing || connections.size >= most_connections) {
      throw new Failure('unavailable', 'No more sockets are accepted now.', { retry_after_s: 5 })
    }
    const token = offered.find((one) => one.startsWith(tokenPrefix))?.slice(tokenPrefix.length)
    return { target, authorization: authorization ?? (token === undefined ? undefined : `Bearer ${token}`) }
  }

  function start(
    webSocket: WebSocket,
    target: SocketDoor,
    authorization: string | undefined,
    principal: Principal | null,
    request: IncomingMessage,
  ): void {
    const connection = connect(webSocket, {
      client: request.socket.remoteAddress ?? 'unknown',
      principal,
      identify: () => principalOf(authorization, door.authenticate),
      closed: () => connections.delete(connection),
    })
    connections.add(connection)
    target.open(connection)
  }

  return {
    accept,
    async close() {
      closing = true
      await Promise.all([...connections].map((connection) => connection.drain()))
    },
  }
}

function refuse(request: IncomingMessage, socket: Duplex, failure: Failure): void {
  const { http } = codes[failure.code]
  const body = JSON.stringify(problem(failure, requestId(request)))
  const retry = failure.details.retry_after_s
  const headers = {
    ...challenge(
      failure,
      request.headers.authorization !== undefined ||
        /bearer\./.test(request.headers['sec-websocket-protocol'] ?? ''),
    ),
    ...(retry !== undefined && { 'Retry-After': String(retry) }),
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${http} ${failure.code}\r\n${lines.join('')}\r\n${body}`)
}
