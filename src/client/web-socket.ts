import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { isRecord } from '../../schemas/json.ts'
import { secretInAddress } from '../transports/http/secrets.ts'
import { startHeartbeat } from '../transports/websocket/heartbeat.ts'
import { SocketClosed, UpgradeRefused } from './refused.ts'

export interface WebSocketTransportOptions {
  /** Sent as `Authorization: Bearer …`, never in the address. */
  readonly token?: string
  /** Sent with the handshake. */
  readonly headers?: Readonly<Record<string, string>>
  /** Asked for a token at the start, where it is not known before. */
  readonly authorize?: () => string | undefined | Promise<string | undefined>
  /** How long the handshake may take, in milliseconds; 10,000 when left out. */
  readonly handshake_ms?: number
  /** How long the server may say nothing at all, in milliseconds; 30,000 when left out. */
  readonly beat_ms?: number
}

/** MCP over WebSocket in the shape that the transports of the SDKs have, v1 and v2. */
export interface WebSocketTransport {
  /** Opens the socket. Rejects with UpgradeRefused, or the fault of the network. */
  start(): Promise<void>
  /** Resolves once the message has left for the server. */
  send(message: object): Promise<void>
  /** Closes with 1000; resolves once it is closed. */
  close(): Promise<void>
  onclose?: (() => void) | undefined
  /** Hears of what is no message, and of SocketClosed before `onclose`. */
  onerror?: ((error: Error) => void) | undefined
  onmessage?: ((message: object) => void) | undefined
}

const longestMessage = 32 * 1024 * 1024
const closeMilliseconds = 2000

/** A client's side of docs/mcp-websocket.md. Throws Failure `invalid_request` for an address that holds a secret. */
export function createWebSocketTransport(
  url: string | URL,
  options: WebSocketTransportOptions = {},
): WebSocketTransport {
  const address = addressOf(url)
  let socket: WebSocket | undefined
  let closing = false

  async function start(): Promise<void> {
    if (socket) throw new Error('The transport was started before.')
    const token = options.token ?? (await options.authorize?.())
    const headers = { ...options.headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) }
    socket = new WebSocket(address, ['mcp'], {
      headers,
      handshakeTimeout: options.handshake_ms ?? 10_000,
      maxPayload: longestMessage,
      perMessageDeflate: false,
    })
    // What the server says first may come with its answer to the handshake.
    await opened(socket, options.beat_ms ?? 30_000, listen)
  }

  function listen(open: WebSocket): void {
    open.on('message', (data, binary) => {
      if (binary) open.close(1003, 'Send text.')
      else receive(String(data))
    })
    open.on('error', (error) => transport.onerror?.(error))
    open.once('close', (code, reason) => {
      if (!closing && code !== 1000) transport.onerror?.(new SocketClosed(code, String(reason)))
      transport.onclose?.()
    })
  }

  function receive(frame: string): void {
    try {
      const message: unknown = JSON.parse(frame)
      if (!isRecord(message)) throw new SyntaxError('The server sent what is no message.')
      transport.onmessage?.(message)
    } catch (fault) {
      transport.onerror?.(fault instanceof Error ? fault : new Error(String(fault)))
    }
  }

  const transport: WebSocketTransport = {
    start,
    async send(message) {
      if (socket?.readyState !== WebSocket.OPEN) throw new Error('The socket is not open.')
      const open = socket
      await new Promise<void>((resolve, reject) => {
        open.send(JSON.stringify(message), (fault) => (fault ? reject(fault) : resolve()))
      })
    },
    async close() {
      closing = true
      if (!socket || socket.readyState === WebSocket.CLOSED) return
      const open = socket
      const closed = new Promise<void>((resolve) => open.once('close', () => resolve()))
      const hard = setTimeout(() => open.terminate(), closeMilliseconds)
      open.close(1000)
      await closed
      clearTimeout(hard)
    },
  }
  return transport
}

function addressOf(url: string | URL): URL {
  const address = new URL(url)
  const secret = secretInAddress(`${address.pathname}${address.search}`)
  if (secret) throw secret
  if (address.username !== '' || address.password !== '')
    throw new TypeError('A name and a password do not belong in the address; give a token.')
  if (/^https?:$/.test(address.protocol)) address.protocol = address.protocol.replace('http', 'ws')
  return address
}

function opened(socket: WebSocket, beat_ms: number, listen: (open: WebSocket) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('upgrade', ({ socket: wire }: IncomingMessage) => startHeartbeat(socket, wire, beat_ms))
    socket.once('open', () => {
      socket.off('error', reject)
      listen(socket)
      resolve()
    })
    socket.once('error', reject)
    socket.once('unexpected-response', (request, answer: IncomingMessage) => {
      const refused = (body: string) => {
        request.destroy()
        reject(new UpgradeRefused(answer.statusCode ?? 0, answer.headers, body))
      }
      text(answer).then(refused, () => refused(''))
    })
  })
}
