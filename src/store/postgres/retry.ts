import { setTimeout as pause } from 'node:timers/promises'

const firstPause = 25
const longestPause = 1000

/** Does it, and again with growing pauses while it fails in that way, for so many milliseconds. */
export async function retryFor<T>(
  work: () => Promise<T>,
  isWorthwhile: (fault: unknown) => boolean,
  milliseconds: number,
): Promise<T> {
  const end = performance.now() + milliseconds
  for (let wait = firstPause; ; wait = Math.min(wait * 2, longestPause)) {
    try {
      return await work()
    } catch (fault) {
      if (!isWorthwhile(fault) || performance.now() + wait > end) throw fault
    }
    await pause(wait)
  }
}
