import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type AttributeCondition, type AttributeValue, ValueIndex } from '../../src/common/value-index.ts'

const names = ['kind', 'tag'] as const
type Name = (typeof names)[number]

const value: fc.Arbitrary<AttributeValue<Name>> = fc.tuple(
  fc.constantFrom(...names),
  fc.constantFrom('a', 'b'),
)
const condition: fc.Arbitrary<AttributeCondition<Name>> = fc.tuple(
  fc.constantFrom(...names),
  fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.subarray(['a', 'b', 'c'])),
)

it('selects after each change what a fresh index selects, also by conditions that it was asked before', async () => {
  const change = fc.record({
    slot: fc.nat(40),
    values: fc.uniqueArray(value, { maxLength: 3, selector: String }),
  })
  await fc.assert(
    fc.property(
      fc.array(change, { maxLength: 20 }),
      fc.array(fc.array(condition, { maxLength: 3 }), { minLength: 1, maxLength: 4 }),
      (changes, sets) => {
        const index = new ValueIndex(names)
        const documents = new Map<number, readonly AttributeValue<Name>[]>()
        const capacity = () => Math.max(-1, ...documents.keys()) + 1
        const selected = (from: ValueIndex<Name>, conditions: readonly AttributeCondition<Name>[]) => {
          const { marks, mark, total } = from.select(conditions, capacity())
          return { total, slots: [...documents.keys()].filter((slot) => marks[slot] === mark) }
        }
        for (const { slot, values } of changes) {
          const before = documents.get(slot)
          if (before) index.remove(slot, before)
          documents.delete(slot)
          if (!before || values.length > 0) {
            index.add(slot, values)
            documents.set(slot, values)
          }
          const fresh = new ValueIndex(names)
          for (const [each, own] of documents) fresh.add(each, own)
          for (const conditions of sets)
            expect(selected(index, conditions)).toEqual(selected(fresh, conditions))
        }
      },
    ),
    { numRuns: 500 },
  )
})
