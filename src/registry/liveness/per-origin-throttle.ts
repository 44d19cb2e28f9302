import { abortable } from '../../common/abort.ts'
import type { Wait } from '../../common/clock.ts'

/** Runs work for one origin at a time, with a pause between two runs. */
export type PerOriginThrottle = <T>(url: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

const never = new AbortController().signal

export function createPerOriginThrottle(gap_ms: number, wait: Wait): PerOriginThrottle {
  const turns = new Map<string, Promise<void>>()

  return async (url, signal, work) => {
    const { origin } = new URL(url)
    const before = turns.get(origin)
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    const mine = Promise.all([before, left]).then(() => {
      if (turns.get(origin) === mine) turns.delete(origin)
    })
    turns.set(origin, mine)
    try {
      await abortable(before ?? Promise.resolve(), signal)
      return await work()
    } finally {
      void wait(gap_ms, never).then(leave, leave)
    }
  }
}
