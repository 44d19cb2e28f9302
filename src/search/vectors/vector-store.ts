import type { AttributeFilter, EntryAttributes } from './attributes.ts'

/** The vectors of an entry as they now are; null says that the entry was removed. All are unit vectors, or zeros. */
export interface VectorChange {
  readonly id: string
  readonly entry: VectorEntry | null
}

export interface VectorEntry {
  readonly attributes: EntryAttributes
  /** The entry's own first, then one for each of its capabilities, in their order. */
  readonly vectors: readonly Float32Array[]
}

/** How similar an entry is to a vector. */
export interface Near {
  readonly id: string
  /** Half the cosine of the entry's own vector, half its best capability's; its own alone where it has none. */
  readonly similarity: number
  /** Index of the best capability among its capabilities, the first of equals; null where it has none. */
  readonly capability: number | null
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
  /**
   * The `limit` entries most similar to the vector among those that meet the filter, best first, equals by id. Throws
   * the signal's reason when it has aborted, else as `apply`; RangeError also for a filter of other attributes.
   */
  nearest(
    vector: Float32Array,
    filter: AttributeFilter,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly Near[]>
  /** How similar these entries are to the vector, in their order; ids of no entry are left out. */
  compare(vector: Float32Array, ids: readonly string[], signal: AbortSignal): Promise<readonly Near[]>
}
