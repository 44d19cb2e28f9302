import type { Readable, Writable } from 'node:stream'
import { Failure } from '../../../schemas/failure.ts'
import { linesOf } from '../../common/lines.ts'
import { drainMilliseconds, FlowControl, type Task } from '../shared/flow-control.ts'
import { createLineWriter } from '../shared/line-writer.ts'
import { localLimits } from '../shared/message.ts'
import { McpChannel } from './channel.ts'
import { refusal } from './protocol-2026/frame.ts'
import type { McpCaller } from './protocol-2026/protocol.ts'
import type { McpService } from './service.ts'

interface StdioOptions {
  readonly input?: Readable
  readonly output?: Writable
  /** Maximum time for requests after the input has ended, in milliseconds. */
  readonly drain_ms?: number
}

/** Serves MCP over standard input and output; resolves when the input has ended and its requests are answered. */
export async function serveMcpStdio(
  service: McpService,
  client: Omit<McpCaller, 'client' | 'overCost'>,
  onError: (fault: unknown) => void,
  { input = process.stdin, output = process.stdout, drain_ms = drainMilliseconds }: StdioOptions = {},
): Promise<void> {
  const ended = new AbortController()
  const flow = new FlowControl(onError)
  output.on('error', (fault) => {
    onError(fault)
    ended.abort()
  })
  ended.signal.addEventListener(
    'abort',
    () => {
      input.destroy()
      flow.clear()
    },
    { once: true },
  )

  const send = createLineWriter(output, ended.signal)

  function prepare(line: string | undefined): Task {
    if (line !== undefined) return channel.prepare(line)
    return { run: () => send(refusal(new Failure('too_large', 'The line is too long.'), null)) }
  }

  const caller: McpCaller = { client: 'local', ...client }
  const channel = new McpChannel({
    service,
    caller,
    messageLimits: localLimits,
    send,
    onError,
  })
  try {
    for await (const lines of linesOf(input)) {
      for (const line of lines) if (!flow.add(prepare(line), line?.length)) await flow.ready()
    }
  } catch (fault) {
    if (!ended.signal.aborted) onError(fault)
  }
  // After an abort, answers have no reader.
  if (!ended.signal.aborted) await flow.drain(drain_ms)
  channel.closed()
  ended.abort()
}
