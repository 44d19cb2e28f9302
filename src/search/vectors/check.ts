import { slabRows } from './memory/layout.ts'
import type { VectorChange } from './vector-store.ts'

/** Throws RangeError for vectors that the store cannot hold. */
export function checkChange({ id, entry }: VectorChange, dimensions: number): void {
  if (!entry) return
  const { vectors } = entry
  if (vectors.length < 1 || vectors.length > slabRows)
    throw new RangeError(`An entry has 1 to ${slabRows} vectors, ${id} has ${vectors.length}.`)
  for (const vector of vectors) checkVector(vector, dimensions)
}

/** Throws RangeError for another number of dimensions, and for numbers that are not finite. */
export function checkVector(vector: Float32Array, dimensions: number): void {
  if (vector.length !== dimensions)
    throw new RangeError(`A vector has ${vector.length} dimensions instead of ${dimensions}.`)
  let sum = 0
  for (let index = 0; index < dimensions; index++) sum += Math.abs(vector[index] ?? 0)
  if (!Number.isFinite(sum)) throw new RangeError('A vector contains a number that is not finite.')
}
