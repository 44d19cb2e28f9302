import type { Clock, Wait } from './clock.ts'

export interface Rate {
  /** Milliseconds between two requests, on average. */
  readonly gap_ms: number
  /** Maximum number of requests without delay after a pause. */
  readonly burst: number
}

/**
 * A token bucket whose callers queue (the generic cell rate algorithm, ITU-T I.371): each call books the next slot. A
 * slot further away than `max_wait_ms` is not booked; the result then says how far away it is. Undefined: go on at once.
 */
export function createRate({ gap_ms, burst }: Rate, max_wait_ms: number, clock: Clock, wait: Wait) {
  let due = Number.NEGATIVE_INFINITY
  return (signal: AbortSignal): { readonly wait_ms: number } | Promise<void> | undefined => {
    const now = clock()
    const wait_ms = Math.max(0, due - (burst - 1) * gap_ms - now)
    if (wait_ms > max_wait_ms) return { wait_ms }
    due = Math.max(due, now) + gap_ms
    return wait_ms > 0 ? wait(wait_ms, signal) : undefined
  }
}
