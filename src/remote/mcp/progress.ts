import type { Progress } from '@modelcontextprotocol/client'
import { textOf } from '../refusal.ts'
import type { RemoteCall } from '../remote-agent.ts'

/** Messages that wait for a slow caller; after that the oldest are dropped. */
const maxWaiting = 64

/** Passes progress on in order, as fast as `emit` accepts it. */
export function createProgress(emit: RemoteCall['emit']): {
  take(progress: Progress): void
  /** Resolves when the latest progress has been passed on; undefined if there was none. */
  done(): Promise<void> | undefined
} {
  const waiting: Progress[] = []
  let isRunning = false
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { progress, total, message } = next
      await emit({
        progress,
        ...(total !== undefined && Number.isFinite(total) && { total }),
        ...(message !== undefined && { message: textOf(message) ?? '' }),
      })
    }
    isRunning = false
  }

  return {
    take(progress) {
      if (!Number.isFinite(progress.progress)) return
      waiting.push(progress)
      if (waiting.length > maxWaiting) waiting.shift()
      if (isRunning) return
      isRunning = true
      running = run()
      running.catch(() => {})
    },
    done: () => running,
  }
}
