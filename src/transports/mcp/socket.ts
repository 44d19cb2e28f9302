import { Failure } from '../../../schemas/failure.ts'
import type { SocketEndpoint } from '../websocket/upgrade.ts'
import { McpChannel } from './channel.ts'
import type { McpService } from './service.ts'

/** `ws://…/mcp/ws`, subprotocol `mcp`: each text frame is one JSON-RPC message, of any supported protocol version. */
export function mcpSocket(service: McpService, onError: (fault: unknown) => void): SocketEndpoint {
  return {
    path: '/mcp/ws',
    subprotocol: 'mcp',
    open(connection) {
      const channel = new McpChannel({
        service,
        onError,
        messageLimits: connection.messageLimits,
        caller: {
          client: connection.client,
          overCost: () => connection.overCost(),
          async identify() {
            const principal = await connection.identify()
            if (principal === undefined) throw new Failure('unauthenticated', 'The token is no longer valid.')
            return principal
          },
        },
        send: (text) => connection.send(text),
      })
      connection.onClose(() => channel.closed())
      connection.read((text) => channel.prepare(text))
    },
  }
}
