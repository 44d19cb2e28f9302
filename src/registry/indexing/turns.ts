import type { Wait } from '../../common/clock.ts'
import type { Lease } from '../lease.ts'

/** Does a piece of work when no other process does one of the same kind. Throws the signal's reason. */
export type InTurn = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

const pollMilliseconds = 100

/** Turns by a lease. Without one, as over a store that takes no writes, the work is done at once. */
export function takingTurns(lease: Lease, wait: Wait, onError: (fault: unknown) => void): InTurn {
  const hold = () =>
    lease.hold(onError).catch((fault) => {
      onError(fault)
      return null
    })

  return async (work, signal) => {
    for (;;) {
      await using turn = await hold()
      if (turn !== undefined) return await work()
      await wait(pollMilliseconds, signal)
    }
  }
}
