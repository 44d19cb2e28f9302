import { setTimeout } from 'node:timers/promises'

/** Milliseconds since the epoch. */
export type Clock = () => number

/** Resolves after `milliseconds`; rejects with the reason of the signal when it aborts. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>

/** Waits with a system timer that does not keep the process alive. */
export const systemWait: Wait = async (milliseconds, signal) => {
  try {
    await setTimeout(milliseconds, undefined, { signal, ref: false })
  } catch (thrown) {
    throw signal.aborted ? signal.reason : thrown
  }
}

/** A monotonic clock. When `clock` is set back, the monotonic clock keeps its last value and runs on from it. */
export function monotonic(clock: Clock): Clock {
  let last = clock()
  let behind = 0
  return () => {
    const now = clock()
    behind += Math.max(0, last - now)
    last = now
    return now + behind
  }
}

/** A clock that another clock corrects. */
export interface CorrectedClock {
  readonly now: Clock
  /** Sets the clock forward by these milliseconds, or back, in whole ones; returns the correction in all. */
  shift(milliseconds: number): number
}

export function corrected(clock: Clock): CorrectedClock {
  let correction = 0
  return {
    now: () => clock() + correction,
    shift: (milliseconds) => (correction += Math.round(milliseconds)),
  }
}
