import type { Clock, Wait } from './clock.ts'

export interface Rate {
  /** Milliseconds between two requests, over the long run. */
  readonly gap_ms: number
  /** How many may go at once after a rest. */
  readonly burst: number
}

/**
 * A token bucket that makes its callers queue (the generic cell rate algorithm, ITU-T I.371): each turn is booked when
 * it is asked for. A turn further away than `patience_ms` is not booked: `wait_ms` says how far it is.
 */
export function createRate({ gap_ms, burst }: Rate, patience_ms: number, clock: Clock, wait: Wait) {
  let due = Number.NEGATIVE_INFINITY
  return async (signal: AbortSignal): Promise<{ readonly wait_ms: number } | undefined> => {
    const now = clock()
    const wait_ms = Math.max(0, due - (burst - 1) * gap_ms - now)
    if (wait_ms > patience_ms) return { wait_ms }
    due = Math.max(due, now) + gap_ms
    if (wait_ms > 0) await wait(wait_ms, signal)
    return undefined
  }
}
