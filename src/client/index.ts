/** What programs import as `dragoman/client`. */
export { SocketClosed, UpgradeRefused } from './refused.ts'
export {
  createWebSocketTransport,
  type WebSocketTransport,
  type WebSocketTransportOptions,
} from './web-socket.ts'
