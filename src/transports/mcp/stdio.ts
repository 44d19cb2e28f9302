import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as after } from 'node:timers/promises'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { linesOf } from '../../common/lines.ts'
import { createChannel } from './channel.ts'
import { refusal } from './protocol-2026/frame.ts'
import type { McpService } from './service.ts'

export interface StdioOptions {
  readonly input?: Readable
  readonly output?: Writable
  /** How long what was asked may take once the input has ended. */
  readonly patience_ms?: number
}

/** Serves MCP over standard input and output; resolves when the input ends and what was asked is answered. */
export async function serveMcpStdio(
  service: McpService,
  identify: () => Principal | null | Promise<Principal | null>,
  onError: (fault: unknown) => void,
  { input = process.stdin, output = process.stdout, patience_ms = 10_000 }: StdioOptions = {},
): Promise<void> {
  const ended = new AbortController()
  output.on('error', (fault) => {
    onError(fault)
    ended.abort()
  })

  async function send(text: string): Promise<void> {
    if (ended.signal.aborted || output.write(`${text}\n`)) return
    await once(output, 'drain', { signal: ended.signal }).catch(() => {})
  }

  async function take(line: string | undefined): Promise<void> {
    if (line === undefined) await send(refusal(new Failure('too_large', 'The line is too long.'), null))
    else await channel.prepare(line).run()
  }

  const channel = createChannel({ service, caller: { identify }, send, onError, close: () => ended.abort() })
  ended.signal.addEventListener('abort', () => input.destroy(), { once: true })
  try {
    for await (const lines of linesOf(input)) {
      for (const line of lines) take(line).catch(onError)
    }
  } catch (fault) {
    if (!ended.signal.aborted) onError(fault)
  }
  await answered(channel.idle(), patience_ms)
  channel.closed()
  ended.abort()
}

/** What was asked is still answered when the input has ended, for a while. */
async function answered(idle: Promise<void>, patience_ms: number): Promise<void> {
  const late = new AbortController()
  await Promise.race([idle, after(patience_ms, undefined, { signal: late.signal }).catch(() => {})])
  late.abort()
}
