import type { Clock, Wait } from '../../src/common/clock.ts'

export interface Time {
  readonly clock: Clock
  readonly wait: Wait
  /** Number of waiting timers. */
  readonly waiting: () => number
  /**
   * Advances the clock by this many milliseconds and wakes the timers that are due. A negative value sets the clock
   * back.
   */
  pass(milliseconds: number): void
}

/** A clock that advances only by `pass`; `now` in milliseconds since the epoch. */
export function createTime(now: number): Time {
  let time = now
  const sleepers = new Set<{ readonly at: number; wake(): void }>()
  return {
    clock: () => time,
    waiting: () => sleepers.size,
    wait(milliseconds, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const sleeper = { at: time + milliseconds, wake: resolve }
      const leave = () => {
        sleepers.delete(sleeper)
        reject(signal.reason)
      }
      sleepers.add(sleeper)
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
      return promise.finally(() => signal.removeEventListener('abort', leave))
    },
    pass(milliseconds) {
      time += milliseconds
      for (const sleeper of sleepers) {
        if (sleeper.at > time) continue
        sleepers.delete(sleeper)
        sleeper.wake()
      }
    },
  }
}
