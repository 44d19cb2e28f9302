import type { StoreObserver, WriteRefusal } from '../store-health.ts'
import type { Transact } from './transaction.ts'

/** Tells the observer of each commit, and of each refusal by the database that concerns all writes. */
export function observeWrites(
  transact: Transact,
  { onWrite }: StoreObserver,
  refusalOf: (thrown: unknown) => WriteRefusal | undefined,
): Transact {
  if (!onWrite) return transact
  return async (work) => {
    try {
      const result = await transact(work)
      onWrite(undefined)
      return result
    } catch (thrown) {
      const refusal = refusalOf(thrown)
      if (refusal) onWrite(refusal)
      throw thrown
    }
  }
}
