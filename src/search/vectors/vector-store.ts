import type { Attributes } from '../index/attribute-index.ts'
import type { Filter } from '../search-index.ts'

export type { Attributes } from '../index/attribute-index.ts'

/** The vectors of an entry as they now are; null says that it is gone. All are unit vectors, or zeros. */
export interface VectorChange {
  readonly id: string
  readonly entry: VectorEntry | null
}

export interface VectorEntry {
  readonly attributes: Attributes
  /** The entry's own first, then one for each of its capabilities, in their order. */
  readonly vectors: readonly Float32Array[]
}

/** How like a vector an entry is. */
export interface Near {
  readonly id: string
  /** Half the cosine of the entry's own vector, half its best capability's; its own alone where it has none. */
  readonly similarity: number
  /** Place of the best capability among its capabilities, the first of equals; null where it has none. */
  readonly capability: number | null
}

/** A derived view of what entries mean; rebuilt from the truth at any time. */
export interface VectorStore extends AsyncDisposable {
  /** Number of the last registry change that searches can see. */
  readonly applied_revision: number
  /** Brings the store to `revision`: each change adds, replaces or removes its entry, in order; all or nothing. */
  apply(changes: readonly VectorChange[], revision: number): Promise<void>
  /**
   * The `limit` entries most like the vector among those that meet the filter, best first, equals by id.
   * Throws the signal's reason when it has aborted.
   */
  nearest(vector: Float32Array, filter: Filter, limit: number, signal: AbortSignal): Promise<readonly Near[]>
  /** How like the vector these entries are, in their order; those that are not there are left out. */
  compare(vector: Float32Array, ids: readonly string[], signal: AbortSignal): Promise<readonly Near[]>
}
