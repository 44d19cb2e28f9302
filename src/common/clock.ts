import { setTimeout } from 'node:timers/promises'

/** Milliseconds since the epoch. */
export type Clock = () => number

/** Resolves after so many milliseconds; rejects with what the signal says when it aborts. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>

/** Waits by the system's timers, without keeping the process alive. */
export const systemWait: Wait = async (milliseconds, signal) => {
  try {
    await setTimeout(milliseconds, undefined, { signal, ref: false })
  } catch (thrown) {
    throw signal.aborted ? signal.reason : thrown
  }
}

/** A clock that stands where it was when the given one is set back, and goes on from there. */
export function steady(clock: Clock): Clock {
  let last = clock()
  let behind = 0
  return () => {
    const now = clock()
    behind += Math.max(0, last - now)
    last = now
    return now + behind
  }
}
