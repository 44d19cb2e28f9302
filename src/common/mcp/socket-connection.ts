import type { ClientRequestArgs, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { startHeartbeat } from '../heartbeat.ts'
import { hasSecret } from '../url-secrets.ts'
import { SocketClosed, UpgradeRefused } from './socket-errors.ts'

export interface McpSocketOptions {
  /** Sent as `Authorization: Bearer …`, never in the address. */
  readonly token?: string
  /** Sent with the handshake. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long the handshake may take, in milliseconds; 10,000 when left out. */
  readonly handshake_ms?: number
  /** How long the server may stay silent, in milliseconds; 30,000 when left out. */
  readonly beat_ms?: number
  /** Maximum size of a message from the server, in bytes; 32 MiB when left out. */
  readonly max_bytes?: number
  /** Ends the handshake when it aborts; an open socket stays open. */
  readonly signal?: AbortSignal
  /** Opens the TCP connection, as in `http.request`; for a proxy or an address check. */
  readonly create_connection?: ClientRequestArgs['createConnection']
}

interface McpSocketEvents {
  /** Receives one text frame; the next one comes after the returned promise has resolved. */
  onText(frame: string): Promise<void> | void
  onError(error: Error): void
  /** Called once, at the end; with the reason unless this side closed the socket or the code was 1000. */
  onClose(reason: SocketClosed | undefined): void
}

/** An open WebSocket to an MCP server. */
export interface McpSocket {
  /** Resolves once the text has left for the server. */
  send(text: string): Promise<void>
  /** Closes with 1000; resolves once it is closed. */
  close(): Promise<void>
}

const subprotocol = 'mcp'
const closeMilliseconds = 2000

/**
 * The address of a socket: ws or wss, without secrets. Throws what `onSecret` returns for an address that holds a
 * token or a key, and TypeError for one that holds a user name or a password.
 */
export function socketAddress(url: string | URL, onSecret: () => Error): URL {
  const address = new URL(url)
  if (hasSecret(`${address.pathname}${address.search}`)) throw onSecret()
  if (address.username !== '' || address.password !== '')
    throw new TypeError('The address must not hold a user name or a password; give a token instead.')
  if (/^https?:$/.test(address.protocol)) address.protocol = address.protocol.replace('http', 'ws')
  return address
}

/** Opens a socket. Rejects with UpgradeRefused, or with the error of the network. */
export function openMcpSocket(
  address: URL,
  {
    token,
    headers,
    handshake_ms = 10_000,
    beat_ms = 30_000,
    max_bytes = 32 * 1024 * 1024,
    signal,
    create_connection,
  }: McpSocketOptions,
  events: McpSocketEvents,
): Promise<McpSocket> {
  const socket = new WebSocket(address, [subprotocol], {
    headers: { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
    handshakeTimeout: handshake_ms,
    maxPayload: max_bytes,
    perMessageDeflate: false,
    // A flood of short frames would otherwise be one turn of the event loop.
    allowSynchronousEvents: false,
    ...(signal && { signal }),
    ...(create_connection && { createConnection: create_connection }),
  })
  return new Promise((resolve, reject) => {
    socket.once('upgrade', ({ socket: wire, headers: answered }: IncomingMessage) => {
      // Some servers select no subprotocol, such as those on Quarkus. The library would refuse them.
      answered['sec-websocket-protocol'] ??= subprotocol
      startHeartbeat(socket, wire, beat_ms)
    })
    socket.once('error', reject)
    socket.once('unexpected-response', (request, answer: IncomingMessage) => {
      const refuse = (body: string) => {
        request.destroy()
        reject(new UpgradeRefused(answer.statusCode ?? 0, answer.headers, body))
      }
      text(answer).then(refuse, () => refuse(''))
    })
    // The first message of the server may come in one packet with its answer to the handshake.
    socket.once('open', () => {
      socket.off('error', reject)
      resolve(listen(socket, events))
    })
  })
}

function listen(socket: WebSocket, events: McpSocketEvents): McpSocket {
  let closing = false
  socket.on('message', (data, binary) => {
    if (binary) return socket.close(1003, 'Send text.')
    const received = events.onText(String(data))
    if (!received) return
    socket.pause()
    void received.finally(() => socket.resume())
  })
  socket.on('error', events.onError)
  socket.once('close', (code, reason) =>
    events.onClose(closing || code === 1000 ? undefined : new SocketClosed(code, String(reason))),
  )
  return {
    async send(frame) {
      if (socket.readyState !== WebSocket.OPEN) throw new Error('The socket is not open.')
      await new Promise<void>((resolve, reject) => {
        socket.send(frame, (fault) => (fault ? reject(fault) : resolve()))
      })
    },
    async close() {
      closing = true
      if (socket.readyState === WebSocket.CLOSED) return
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      const hard = setTimeout(() => socket.terminate(), closeMilliseconds)
      socket.close(1000)
      await closed
      clearTimeout(hard)
    },
  }
}
