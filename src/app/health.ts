import type { WriteRefusal } from '../store/store.ts'

/**
 * A reason why a gateway that answers needs its operator: the store refuses writes, has damage, or knows fewer changes
 * than a snapshot that was derived from it.
 */
type HealthReason = WriteRefusal | 'store_damaged' | 'store_behind_index'

/** The reasons that hold now. */
export type Health = Set<HealthReason>

export function createHealth(): Health {
  return new Set()
}
