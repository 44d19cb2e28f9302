import { setTimeout as pause } from 'node:timers/promises'

/** Does the work after each pause, until the signal aborts; resolves at the end of the last work. Keeps no process alive. */
export async function repeat(
  pause_ms: number,
  signal: AbortSignal,
  work: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    await pause(pause_ms, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return
    await work()
  }
}
