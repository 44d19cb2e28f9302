import type { Progress } from '@modelcontextprotocol/client'
import { textOf } from '../refusal.ts'
import type { RemoteCall } from '../remote-agent.ts'

/**
 * Passes progress on as fast as `emit` accepts it. If several messages arrive in the meantime, only the latest is
 * passed on.
 */
export function createProgress(emit: RemoteCall['emit']): {
  take(progress: Progress): void
  /** Resolves when the latest progress has been passed on. */
  done(): Promise<void>
} {
  let latest: Progress | undefined
  let isRunning = false
  let running = Promise.resolve()

  async function run(): Promise<void> {
    while (latest) {
      const { progress, total, message } = latest
      latest = undefined
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
      latest = progress
      if (isRunning) return
      isRunning = true
      running = run()
      running.catch(() => {})
    },
    done: () => running,
  }
}
