import { setTimeout } from 'node:timers/promises'

/** Milliseconds since the epoch. */
export type Clock = () => number

/** Resolves after so many milliseconds; rejects with the reason of the signal when it aborts. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>

/** Waits with a system timer that does not keep the process alive. */
export const systemWait: Wait = async (milliseconds, signal) => {
  try {
    await setTimeout(milliseconds, undefined, { signal, ref: false })
  } catch (thrown) {
    throw signal.aborted ? signal.reason : thrown
  }
}

/** A monotonic clock: when `clock` is set back, it stays where it was and continues from there. */
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
