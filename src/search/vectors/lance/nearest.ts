import { takeFirst } from '../../../common/take-first.ts'
import { bestFirst, type Near } from '../vector-store.ts'
import { DamageError } from './damage-error.ts'
import type { RowName, VectorRow } from './rows.ts'

/** Reads of the rows that meet a filter. */
export interface RowSource {
  /** The rows most similar to the vector, and the maximum cosine of all other rows; null if there are no others. */
  top(depth: number): Promise<{ readonly rows: Iterable<VectorRow>; readonly others: number | null }>
  /** All rows of these entries, in no order. */
  rowsOf(ids: readonly string[]): Promise<Iterable<VectorRow>>
  /** All rows, without their vectors. */
  names(): Promise<Iterable<RowName>>
}

/** Factor of the depth from one read to the next. */
const widening = 4
/** Rows of the first read in excess of the limit. */
const spare = 32
/** Maximum error of cosines in single precision. */
const slack = 1e-5

/**
 * An entry of similarity s has at least one row of similarity s or more. So entries without a row among the top rows
 * can be left out once the whole result is better than the worst of the top rows.
 */
export async function findNearest(source: RowSource, vector: Float32Array, limit: number): Promise<Near[]> {
  if (limit < 1) return []
  if (vector.every((number) => number === 0)) return firstById(await source.names(), limit)
  const similarities = new Map<string, Near>()
  for (let depth = limit + spare; ; depth *= widening) {
    const { rows, others } = await source.top(depth)
    const found = group(rows)
    const lacking: string[] = []
    for (const [id, rowsOfEntry] of found) {
      if (similarities.has(id)) continue
      if (rowsOfEntry.length === rowsOfEntry[0]?.width)
        similarities.set(id, likeness(id, rowsOfEntry, vector))
      else lacking.push(id)
    }
    for (const [id, all] of group(await source.rowsOf(lacking)))
      similarities.set(id, likeness(id, all, vector))
    const near = takeFirst(similarities.values(), limit, bestFirst)
    const last = near[limit - 1]
    if (others === null || (last && last.similarity > others + slack)) return near
  }
}

/** Similarities of these entries to the vector, in their order. */
export async function compareRows(
  rowsOf: RowSource['rowsOf'],
  vector: Float32Array,
  ids: readonly string[],
): Promise<Near[]> {
  const found = group(await rowsOf([...new Set(ids)]))
  return ids.flatMap((id) => {
    const rows = found.get(id)
    return rows ? [likeness(id, rows, vector)] : []
  })
}

function group(rows: Iterable<VectorRow>): Map<string, VectorRow[]> {
  const groups = new Map<string, VectorRow[]>()
  for (const row of rows) {
    const present = groups.get(row.id)
    if (present) present.push(row)
    else groups.set(row.id, [row])
  }
  return groups
}

/** Computed from all rows of an entry. Throws DamageError if rows are missing or duplicate. */
function likeness(id: string, rows: readonly VectorRow[], vector: Float32Array): Near {
  const ordered = rows.toSorted((left, right) => left.place - right.place)
  if (ordered.some(({ place, width }, index) => place !== index || width !== ordered.length))
    throw new DamageError(`The rows of ${id} are not those of one entry.`)
  const [own = 0, ...others] = ordered.map((row) => dot(vector, row.vector))
  if (others.length === 0) return { id, similarity: own, capability: null }
  const best = others.reduce((left, right) => Math.max(left, right))
  return { id, similarity: (own + best) / 2, capability: others.indexOf(best) }
}

/** The first entries by id: all entries are equally similar to a vector of zeros. */
function firstById(names: Iterable<RowName>, limit: number): Near[] {
  function* entries() {
    for (const { id, place, width } of names)
      if (place === 0) yield { id, similarity: 0, capability: width > 1 ? 0 : null }
  }
  return takeFirst(entries(), limit, bestFirst)
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0
  for (let index = 0; index < left.length; index++) sum += (left[index] ?? 0) * (right[index] ?? 0)
  return sum
}
