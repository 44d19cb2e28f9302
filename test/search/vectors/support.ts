import fc from 'fast-check'
import { expect } from 'vitest'
import { indexedFields, mapFields } from '../../../schemas/entry-fields.ts'
import {
  type AttributeFilter,
  attributeNames,
  type EntryAttributes,
  isList,
} from '../../../src/search/vectors/attributes.ts'
import type { Near, VectorChange } from '../../../src/search/vectors/vector-store.ts'
import type { Pair } from './oracle.ts'

export const signal: AbortSignal = new AbortController().signal

/** A vector in memory is rounded to 16 bits a number, which may swap entries that differ by less. */
const tie = 5e-5

export function attributesOf(fields: Partial<EntryAttributes> = {}): EntryAttributes {
  const empty = Object.fromEntries(attributeNames.map((name) => [name, isList(name) ? [] : null]))
  return { ...(empty as unknown as EntryAttributes), state: 'ACTIVE', ...fields }
}

export function put(
  id: string,
  vectors: readonly Float32Array[],
  fields: Partial<EntryAttributes> = {},
): VectorChange {
  return { id, entry: { attributes: attributesOf(fields), vectors } }
}

export function gone(id: string): VectorChange {
  return { id, entry: null }
}

/** The unit vector in this direction; zeros stay zeros. */
export function unit(...numbers: readonly number[]): Float32Array {
  let sum = 0
  for (const number of numbers) sum += number * number
  const length = Math.sqrt(sum) || 1
  return new Float32Array(numbers.map((number) => number / length))
}

/** Random numbers from -1 to 1, the same ones for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1
  }
}

/** Unit vectors around some centers, as those of texts are. */
export function clusteredVectors(seed: number, dimensions: number, clusters = 16): () => Float32Array {
  const random = randomNumbers(seed)
  const centers = Array.from({ length: clusters }, () => Array.from({ length: dimensions }, random))
  return () => {
    const center = centers[Math.floor(((random() + 1) / 2) * clusters)]!
    return unit(...center.map((number) => number + random() / 2))
  }
}

export function idsOf(near: readonly Near[]): string[] {
  return near.map(({ id }) => id)
}

/** Compares the answers of both, except for the order of almost equal entries. Returns the store's answer. */
export async function expectExact(
  { store, oracle }: Pair,
  vector: Float32Array,
  filter: AttributeFilter = {},
  limit = 100,
): Promise<readonly Near[]> {
  const near = await store.nearest(vector, filter, limit, signal)
  const ordered = oracle.nearest(vector, filter, oracle.entries.size)
  const all = new Map(ordered.map((entry) => [entry.id, entry]))
  const expected = ordered.slice(0, limit)
  expect(near).toHaveLength(expected.length)
  expect(new Set(idsOf(near)).size).toBe(near.length)
  for (const [index, { id, similarity, capability }] of near.entries()) {
    const expectedEntry = expected[index]!
    const own = all.get(id)
    if (!own) throw new Error(`${id} does not meet the filter.`)
    const isNear = Math.abs(similarity - own.similarity) < tie
    if (!isNear) throw new Error(`${id} has the similarity ${own.similarity}, not ${similarity}.`)
    if (id !== expectedEntry.id) expect(Math.abs(own.similarity - expectedEntry.similarity)).toBeLessThan(tie)
    if (capability === own.capability) continue
    if (capability === null || own.capability === null) expect(capability).toBe(own.capability)
    else {
      const best = oracle.cosine(vector, id, own.capability)
      expect(Math.abs(oracle.cosine(vector, id, capability) - best)).toBeLessThan(tie)
    }
  }
  return near
}

export async function expectSame({ store, oracle }: Pair, vector: Float32Array, ids: readonly string[]) {
  const compared = await store.compare(vector, ids, signal)
  const expected = oracle.compare(vector, ids)
  expect(idsOf(compared)).toEqual(idsOf(expected))
  for (const [index, { similarity }] of compared.entries())
    expect(Math.abs(similarity - expected[index]!.similarity)).toBeLessThan(tie)
}

const slug = fc.constantFrom('red', 'green', 'blue')

/** Few directions, so that vectors are often equal, opposite or zero. */
export const someVector: fc.Arbitrary<Float32Array> = fc
  .oneof(
    fc.array(fc.integer({ min: -2, max: 2 }), { minLength: 5, maxLength: 5 }),
    fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 }),
  )
  .map((numbers) => unit(...numbers))

const someAttributes = fc.record({
  ...mapFields(indexedFields, (name) => (isList(name) ? fc.uniqueArray(slug) : fc.option(slug))),
  state: fc.constantFrom('STAGE', 'ACTIVE'),
  owner: fc.option(fc.constantFrom('ann', 'bob')),
}) as unknown as fc.Arbitrary<EntryAttributes>

export const someChange: fc.Arbitrary<VectorChange> = fc.record({
  id: fc.integer({ min: 0, max: 20 }).map((number) => `entry-${number}`),
  entry: fc.option(
    fc.record({ attributes: someAttributes, vectors: fc.array(someVector, { minLength: 1, maxLength: 5 }) }),
    { freq: 4 },
  ),
})

const anyCase = fc.constantFrom('red', 'Green', 'BLUE')

export const someFilter = fc.record(
  {
    state: fc.constantFrom('STAGE', 'ACTIVE'),
    owner: fc.constantFrom('ann', 'bob', 'nobody'),
    ...mapFields(indexedFields, (name) => (isList(name) ? fc.array(anyCase, { maxLength: 2 }) : anyCase)),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<AttributeFilter>
