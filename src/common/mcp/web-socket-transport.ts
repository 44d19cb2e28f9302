import { isRecord } from '../json.ts'
import { type McpSocket, type McpSocketOptions, openMcpSocket } from './socket-connection.ts'

export interface WebSocketTransportOptions extends McpSocketOptions {
  /** Returns the token when the transport starts; used if `token` is absent. */
  readonly authorize?: () => string | undefined | Promise<string | undefined>
}

/** MCP over WebSocket with the interface of the SDKs' transports, v1 and v2. */
export interface WebSocketTransport {
  /** Opens the socket. Rejects with UpgradeRefused, or with the error of the network. */
  start(): Promise<void>
  /** Resolves once the message has left for the server. */
  send(message: object): Promise<void>
  /** Closes with 1000; resolves once it is closed. */
  close(): Promise<void>
  onclose?: (() => void) | undefined
  /** Receives errors: an invalid frame, and SocketClosed before `onclose`. */
  onerror?: ((error: Error) => void) | undefined
  onmessage?: ((message: object) => void) | undefined
}

/** The client side of docs/mcp-websocket.md, for an address that `socketAddress` has accepted. */
export function createWebSocketTransport(
  address: URL,
  { authorize, ...options }: WebSocketTransportOptions = {},
): WebSocketTransport {
  let socket: McpSocket | undefined
  let started = false

  function receive(frame: string): void {
    try {
      const message: unknown = JSON.parse(frame)
      if (!isRecord(message)) throw new SyntaxError('The frame of the server is not a JSON-RPC message.')
      transport.onmessage?.(message)
    } catch (fault) {
      transport.onerror?.(fault instanceof Error ? fault : new Error(String(fault)))
    }
  }

  const transport: WebSocketTransport = {
    async start() {
      if (started) throw new Error('The transport has already been started.')
      started = true
      const token = options.token ?? (await authorize?.())
      const opening = { ...options, ...(token !== undefined && { token }) }
      socket = await openMcpSocket(address, opening, {
        onText: receive,
        onError: (error) => transport.onerror?.(error),
        onClose(reason) {
          if (reason) transport.onerror?.(reason)
          transport.onclose?.()
        },
      })
    },
    async send(message) {
      if (!socket) throw new Error('The socket is not open.')
      await socket.send(JSON.stringify(message))
    },
    async close() {
      await socket?.close()
    },
  }
  return transport
}
