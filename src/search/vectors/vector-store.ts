import { compareAscii } from '../../common/compare.ts'
import type { AttributeFilter, EntryAttributes } from './attributes.ts'

/** The current vectors of an entry; null if the entry was removed. All are unit vectors, or zeros. */
export interface VectorChange {
  readonly id: string
  readonly entry: VectorEntry | null
}

export interface VectorEntry {
  readonly attributes: EntryAttributes
  /** The entry's own vector first, then one for each of its capabilities, in their order. */
  readonly vectors: readonly Float32Array[]
}

/** The similarity of an entry to a vector. */
export interface Near {
  readonly id: string
  /**
   * The mean of the cosine of the entry's own vector and that of its best capability; its own cosine if it has no
   * capability.
   */
  readonly similarity: number
  /** Index of the best capability among its capabilities, the first of equals; null if it has none. */
  readonly capability: number | null
}

/** The order of results: by similarity, equals by id. */
export function bestFirst(left: Near, right: Near): number {
  return right.similarity - left.similarity || compareAscii(left.id, right.id)
}

/** Vectors of entries, searched by similarity. Derived data: its owner can apply all entries again at any time. */
export interface VectorStore extends AsyncDisposable {
  /** Number of the last change that searches can see. */
  readonly applied_revision: number
  /**
   * Brings the store to `revision`: each change adds, replaces or removes its entry, in order; all or nothing. Throws
   * VectorStoreError, and RangeError for vectors of other dimensions or with numbers that are not finite.
   */
  apply(changes: readonly VectorChange[], revision: number): Promise<void>
  /** Empties a store that cannot be brought back to an earlier revision; absent if it can. */
  discard?(): Promise<void>
  /**
   * The `limit` entries most similar to the vector among those that meet the filter, best first, equals by id. Throws
   * the signal's reason when it has aborted, otherwise as `apply`; RangeError also for a filter with other attributes.
   */
  nearest(
    vector: Float32Array,
    filter: AttributeFilter,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly Near[]>
  /** The similarity of these entries to the vector, in the order of the ids; unknown ids are left out. */
  compare(vector: Float32Array, ids: readonly string[], signal: AbortSignal): Promise<readonly Near[]>
}
