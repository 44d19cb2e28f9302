import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from './faults.ts'

const patienceMilliseconds = 5000
const longestPause = 50

/**
 * Does it, and again while another connection writes, for five seconds. SQLite's own busy time-out would hold up
 * the event loop, and with it the other connection where that is of this very process.
 */
export async function retryFor<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + patienceMilliseconds
  for (let wait = 1; ; wait = Math.min(wait * 2, longestPause)) {
    try {
      return await work()
    } catch (fault) {
      if (!isBusy(fault) || performance.now() > end) throw fault
    }
    await pause(wait)
  }
}
