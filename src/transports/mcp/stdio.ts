import { Readable, type Writable } from 'node:stream'
import { setTimeout as after } from 'node:timers/promises'
import type { Principal } from '../../../schemas/scope.ts'
import type { Door } from '../door.ts'

export interface StdioOptions {
  readonly input?: Readable
  readonly output?: Writable
  /** How long what was asked may take once the input has ended. */
  readonly patience_ms?: number
}

/** Serves MCP over standard input and output; resolves when the input ends and what was asked is answered. */
export async function serveMcpStdio(
  door: Door,
  version: string,
  identify: () => Principal | null | Promise<Principal | null>,
  failed: (fault: unknown) => void,
  { input = process.stdin, output = process.stdout, patience_ms = 10_000 }: StdioOptions = {},
): Promise<void> {
  const [{ serveStdio, StdioServerTransport }, { counted }, { createAsked }, { createMcpServers }] =
    await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('./stdio-transport.ts'),
      import('./asked.ts'),
      import('./server.ts'),
    ])
  const createServer = createMcpServers(door, version)
  const asked = createAsked()
  const lines = Readable.from(untilAnswered(input, asked.idle, patience_ms), { objectMode: false })
  lines.on('error', failed)
  const { transport, closed } = counted(new StdioServerTransport(lines, output), asked)
  serveStdio(() => createServer({ identify }), { transport, onerror: failed })
  await closed
  input.destroy()
}

/** The input, whose end comes only when nothing waits for an answer: the SDK drops what is in flight then. */
async function* untilAnswered(
  input: Readable,
  idle: () => Promise<void>,
  patience_ms: number,
): AsyncGenerator<Buffer> {
  yield* input
  const answered = new AbortController()
  const late = after(patience_ms, undefined, { signal: answered.signal }).catch(() => {})
  await Promise.race([idle(), late])
  answered.abort()
}
