import { Failure } from '../../schemas/failure.ts'
import { socketAddress } from '../common/mcp/socket-connection.ts'
import {
  createWebSocketTransport as createTransport,
  type WebSocketTransport,
  type WebSocketTransportOptions,
} from '../common/mcp/web-socket-transport.ts'

/** The public module `dragoman/client`. */
export { SocketClosed, UpgradeRefused } from '../common/mcp/socket-errors.ts'
export type { WebSocketTransport, WebSocketTransportOptions } from '../common/mcp/web-socket-transport.ts'

/** The client side of docs/mcp-websocket.md. Throws Failure `invalid_request` for an address that holds a secret. */
export function createWebSocketTransport(
  url: string | URL,
  options: WebSocketTransportOptions = {},
): WebSocketTransport {
  return createTransport(socketAddress(url, Failure.secretInAddress), options)
}
