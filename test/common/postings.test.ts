import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Postings } from '../../src/common/postings.ts'

describe('postings', () => {
  it('hold the slots of a key in order with their weights, through every change', async () => {
    const slots = fc.array(fc.nat({ max: 20 }), { maxLength: 60 })
    await fc.assert(
      fc.property(slots, (toggled) => {
        const postings = new Postings()
        const expected = new Map<number, number>()
        toggled.forEach((slot, weight) => {
          const list = postings.get('key')
          if (list?.has(slot)) postings.remove(list, slot)
          else postings.add('key', slot, weight)
          if (!expected.delete(slot)) expected.set(slot, weight)
        })
        const list = postings.get('key')
        const found = Array.from({ length: list?.size ?? 0 }, (_, at) => [list?.slots[at], list?.weights[at]])
        expect(found).toEqual([...expected].sort(([left], [right]) => left - right))
      }),
    )
  })

  it('forget a key without slots', () => {
    const postings = new Postings()
    postings.remove(postings.add('key', 3), 3)
    expect(postings.get('key')).toBeUndefined()
    expect([...postings.lists()]).toEqual([])
  })
})
