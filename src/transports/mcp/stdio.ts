import type { Principal } from '../../../schemas/scope.ts'
import type { Door } from '../door.ts'

/** Serves MCP over standard input and output; resolves when the input ends and what was asked is answered. */
export async function serveMcpStdio(
  door: Door,
  version: string,
  identify: () => Principal | null | Promise<Principal | null>,
  failed: (fault: unknown) => void,
): Promise<void> {
  const [{ serveStdio, StdioServerTransport }, { createMcpServers }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('./server.ts'),
  ])
  const createServer = createMcpServers(door, version)
  const transport = new StdioServerTransport()
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
  })
  serveStdio(() => createServer({ identify }), { transport, onerror: failed })
  await ended
}
