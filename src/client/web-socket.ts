import { isRecord } from '../../schemas/json.ts'
import { type Connection, type ConnectionOptions, openConnection, socketAddress } from './connection.ts'

export interface WebSocketTransportOptions extends ConnectionOptions {
  /** Asked for a token at the start, where it is not known before. */
  readonly authorize?: () => string | undefined | Promise<string | undefined>
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

/** A client's side of docs/mcp-websocket.md. Throws Failure `invalid_request` for an address that holds a secret. */
export function createWebSocketTransport(
  url: string | URL,
  { authorize, ...options }: WebSocketTransportOptions = {},
): WebSocketTransport {
  const address = socketAddress(url)
  let connection: Connection | undefined
  let started = false

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
    async start() {
      if (started) throw new Error('The transport was started before.')
      started = true
      const token = options.token ?? (await authorize?.())
      const opening = { ...options, ...(token !== undefined && { token }) }
      connection = await openConnection(address, opening, {
        text: receive,
        failed: (error) => transport.onerror?.(error),
        closed(why) {
          if (why) transport.onerror?.(why)
          transport.onclose?.()
        },
      })
    },
    async send(message) {
      if (!connection) throw new Error('The socket is not open.')
      await connection.send(JSON.stringify(message))
    },
    async close() {
      await connection?.close()
    },
  }
  return transport
}
