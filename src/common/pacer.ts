import type { Clock, Wait } from './clock.ts'

/** Resolves at the caller's turn: at most one turn in each `gap_ms` milliseconds. */
export function createPacer(
  gap_ms: number,
  clock: Clock,
  wait: Wait,
): (signal: AbortSignal) => Promise<void> {
  let next = Number.NEGATIVE_INFINITY
  return async (signal) => {
    const now = clock()
    // A turn further away was given by a clock that was ahead.
    const turn = next - now > gap_ms * maxWaiting ? now : Math.max(now, next)
    next = turn + gap_ms
    if (turn > now) await wait(turn - now, signal)
  }
}

const maxWaiting = 60
