import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { gather } from './gather.ts'

/**
 * Writes lines to a stream. Each write resolves when the stream takes more, or when the signal aborts; after that, no
 * line is written. Concurrent writes share one listener: a stream warns of eleven.
 */
export function createLineWriter(output: Writable, signal: AbortSignal): (line: string) => Promise<void> {
  let drained: Promise<unknown> | undefined
  return async (line) => {
    if (signal.aborted) return
    gather(output)
    if (output.write(`${line}\n`)) return
    drained ??= once(output, 'drain', { signal })
      .catch(() => {})
      .finally(() => {
        drained = undefined
      })
    await drained
  }
}
