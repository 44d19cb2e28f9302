import { Failure } from '../../../schemas/failure.ts'
import type { Door } from '../door.ts'
import type { Connection } from '../websocket/connection.ts'
import type { SocketDoor } from '../websocket/upgrade.ts'

export interface McpSocketOptions {
  readonly door: Door
  readonly version: string
  readonly failed: (fault: unknown) => void
}

/** `ws://…/mcp/ws`, subprotocol `mcp`: one text frame is one JSON-RPC message, in either era of MCP. */
export function mcpSocket({ door, version, failed }: McpSocketOptions): SocketDoor {
  let loading: ReturnType<typeof load> | undefined

  async function open(connection: Connection): Promise<void> {
    loading ??= load(door, version)
    const { serveStdio, transportOver, createServer } = await loading
    const caller = {
      client: connection.client,
      async identify() {
        const principal = await connection.identify()
        if (principal === undefined) throw new Failure('unauthenticated', 'The token no longer holds.')
        return principal
      },
    }
    serveStdio(() => createServer(caller), { transport: transportOver(connection), onerror: failed })
  }
  return {
    path: '/mcp/ws',
    subprotocol: 'mcp',
    required: true,
    open(connection) {
      open(connection).catch((fault) => {
        failed(fault)
        connection.close(1011, 'MCP cannot be served now.')
      })
    },
  }
}

/** The SDK is loaded with the first socket. */
async function load(door: Door, version: string) {
  const [{ serveStdio }, { transportOver }, { createMcpServers }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('./socket-transport.ts'),
    import('./server.ts'),
  ])
  return { serveStdio, transportOver, createServer: createMcpServers(door, version) }
}
