import type { ClientRequestArgs, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { secretInAddress } from '../transports/http/secrets.ts'
import { startHeartbeat } from '../transports/websocket/heartbeat.ts'
import { SocketClosed, UpgradeRefused } from './refused.ts'

export interface ConnectionOptions {
  /** Sent as `Authorization: Bearer …`, never in the address. */
  readonly token?: string
  /** Sent with the handshake. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long the handshake may take, in milliseconds; 10,000 when left out. */
  readonly handshake_ms?: number
  /** How long the server may say nothing at all, in milliseconds; 30,000 when left out. */
  readonly beat_ms?: number
  /** Largest message taken, in bytes; 32 MiB when left out. */
  readonly max_bytes?: number
  /** Ends the handshake when it aborts; an open socket stays open. */
  readonly signal?: AbortSignal
  /** What carries the socket, as of `http.request`: for a proxy, or a guard. */
  readonly create_connection?: ClientRequestArgs['createConnection']
}

interface ConnectionEvents {
  /** One text frame; no more come before what it returns resolves. */
  text(frame: string): Promise<void> | void
  failed(error: Error): void
  /** Once, at the end; with why, where it was not our own will or 1000. */
  closed(why: SocketClosed | undefined): void
}

/** An open socket that speaks MCP. */
export interface Connection {
  /** Resolves once the text has left for the server. */
  send(text: string): Promise<void>
  /** Closes with 1000; resolves once it is closed. */
  close(): Promise<void>
}

const closeMilliseconds = 2000

/** Where a socket is opened: ws or wss, and no secrets. Throws Failure `invalid_request`, or TypeError. */
export function socketAddress(url: string | URL): URL {
  const address = new URL(url)
  const secret = secretInAddress(`${address.pathname}${address.search}`)
  if (secret) throw secret
  if (address.username !== '' || address.password !== '')
    throw new TypeError('A name and a password do not belong in the address; give a token.')
  if (/^https?:$/.test(address.protocol)) address.protocol = address.protocol.replace('http', 'ws')
  return address
}

/** Opens a socket. Rejects with UpgradeRefused, or the fault of the network. */
export function openConnection(
  address: URL,
  {
    token,
    headers,
    handshake_ms = 10_000,
    beat_ms = 30_000,
    max_bytes = 32 * 1024 * 1024,
    signal,
    create_connection,
  }: ConnectionOptions,
  events: ConnectionEvents,
): Promise<Connection> {
  const socket = new WebSocket(address, ['mcp'], {
    headers: { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
    handshakeTimeout: handshake_ms,
    maxPayload: max_bytes,
    perMessageDeflate: false,
    ...(signal && { signal }),
    ...(create_connection && { createConnection: create_connection }),
  })
  return new Promise((resolve, reject) => {
    socket.once('upgrade', ({ socket: wire }: IncomingMessage) => startHeartbeat(socket, wire, beat_ms))
    socket.once('error', reject)
    socket.once('unexpected-response', (request, answer: IncomingMessage) => {
      const refused = (body: string) => {
        request.destroy()
        reject(new UpgradeRefused(answer.statusCode ?? 0, answer.headers, body))
      }
      text(answer).then(refused, () => refused(''))
    })
    // What the server says first may come with its answer to the handshake.
    socket.once('open', () => {
      socket.off('error', reject)
      resolve(listen(socket, events))
    })
  })
}

function listen(socket: WebSocket, events: ConnectionEvents): Connection {
  let closing = false
  socket.on('message', (data, binary) => {
    if (binary) return socket.close(1003, 'Send text.')
    const taken = events.text(String(data))
    if (!taken) return
    socket.pause()
    void taken.finally(() => socket.resume())
  })
  socket.on('error', events.failed)
  socket.once('close', (code, reason) =>
    events.closed(closing || code === 1000 ? undefined : new SocketClosed(code, String(reason))),
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
