import { indexedFields } from '../../../schemas/entry-fields.ts'
import type {
  AttributeFilter,
  AttributeName,
  EntryAttributes,
} from '../../../src/search/vectors/attributes.ts'
import type {
  Near,
  VectorChange,
  VectorEntry,
  VectorStore,
} from '../../../src/search/vectors/vector-store.ts'

/** All entries compared one by one in double precision: slow and plain. */
export class Oracle {
  readonly entries = new Map<string, VectorEntry>()

  apply(changes: readonly VectorChange[]): void {
    for (const { id, entry } of changes) {
      if (entry) this.entries.set(id, entry)
      else this.entries.delete(id)
    }
  }

  nearest(vector: Float32Array, filter: AttributeFilter, limit: number): Near[] {
    return [...this.entries]
      .filter(([, { attributes }]) => meets(attributes, filter))
      .map(([id, { vectors }]) => similarity(id, vector, vectors))
      .sort((left, right) => right.similarity - left.similarity || (left.id < right.id ? -1 : 1))
      .slice(0, limit)
  }

  /** The cosine of the vector and one capability of an entry. */
  cosine(vector: Float32Array, id: string, capability: number): number {
    return dot(vector, this.entries.get(id)!.vectors[capability + 1]!)
  }

  compare(vector: Float32Array, ids: readonly string[]): Near[] {
    return ids.flatMap((id) => {
      const entry = this.entries.get(id)
      return entry ? [similarity(id, vector, entry.vectors)] : []
    })
  }
}

/** A store with its oracle; both take every change. */
export class Pair {
  readonly store: VectorStore
  readonly oracle = new Oracle()

  constructor(store: VectorStore) {
    this.store = store
  }

  async apply(changes: readonly VectorChange[]): Promise<void> {
    this.oracle.apply(changes)
    await this.store.apply(changes, this.store.applied_revision + 1)
  }
}

function similarity(id: string, vector: Float32Array, [own, ...others]: readonly Float32Array[]): Near {
  const cosines = others.map((other) => dot(vector, other))
  const best = cosines.length > 0 ? Math.max(...cosines) : null
  if (best === null) return { id, similarity: dot(vector, own!), capability: null }
  return { id, similarity: (dot(vector, own!) + best) / 2, capability: cosines.indexOf(best) }
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!
  return sum
}

/** Text that publishers state is compared without case; a state and an owner are exact. */
function meets(attributes: EntryAttributes, filter: AttributeFilter): boolean {
  return Object.entries(filter).every(([name, filtered]) => {
    if (filtered === undefined) return true
    const values = [attributes[name as AttributeName]].flat()
    const isStated = (indexedFields as readonly string[]).includes(name)
    return [filtered].flat().every((value) => values.includes(isStated ? value.toLowerCase() : value))
  })
}
