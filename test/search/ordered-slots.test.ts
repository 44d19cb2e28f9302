import fc from 'fast-check'
import { expect, it } from 'vitest'
import { orders } from '../../src/search/index/order.ts'
import { OrderedSlots } from '../../src/search/index/ordered-slots.ts'

const slots = 10_000

function positionOf(slot: number) {
  return { key: (slot * 7919) % 1000, id: String(slot).padStart(5, '0') }
}

it('keeps thousands of slots in order through changes, and takes those after a position that pass', async () => {
  await fc.assert(
    fc.property(
      fc.array(fc.nat(slots - 1), { maxLength: 50 }),
      fc.nat(slots - 1),
      fc.integer({ min: 1, max: 60 }),
      (removed, after, divisor) => {
        const present = new Set(Array.from({ length: slots }, (_, slot) => slot))
        const ordered = new OrderedSlots(orders.newest, positionOf)
        for (const slot of present) ordered.add(slot)
        for (const slot of new Set(removed)) {
          ordered.remove(slot)
          present.delete(slot)
        }
        const sorted = [...present].sort((left, right) => orders.newest(positionOf(left), positionOf(right)))
        expect([...ordered.save()]).toEqual(sorted)
        const restored = new OrderedSlots(orders.newest, positionOf, ordered.save())
        const expected = sorted.filter(
          (slot) => slot % divisor === 0 && orders.newest(positionOf(after), positionOf(slot)) < 0,
        )
        for (const each of [ordered, restored]) {
          const taken = each.take(100, positionOf(after), (slot) => slot % divisor === 0)
          expect(taken.map(({ slot }) => slot)).toEqual(expected.slice(0, 100))
        }
      },
    ),
    { numRuns: 10 },
  )
})
