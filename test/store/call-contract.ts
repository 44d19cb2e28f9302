import { describe, expect, test } from 'vitest'
import type { StoreHome } from './contract.ts'

/** What every store does with the calls of agents. */
export function callContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: the calls of an agent`, () => {
    test('add up by days, also those that processes add at the same time', async () => {
      await using home = await open()
      const { calls } = home.store
      const other = (await home.another()).calls
      const earlier = { calls: 3, refused: 1, failed: 0 }
      const later = { calls: 2, refused: 0, failed: 2 }
      await Promise.all([
        calls.add(20_000, new Map(Object.entries({ near: earlier, far: earlier }))),
        other.add(20_000, new Map(Object.entries({ far: later, near: later }))),
        calls.add(20_001, new Map(Object.entries({ near: later }))),
      ])
      const sum = { date: '2024-10-04', calls: 5, refused: 1, failed: 2 }
      expect(await other.days('near', 20_000)).toEqual([sum, { date: '2024-10-05', ...later }])
      expect(await calls.days('near', 20_001)).toEqual([{ date: '2024-10-05', ...later }])
      expect(await calls.days('far', 0)).toEqual([sum])
      expect(await calls.days('unknown', 0)).toEqual([])
    })

    test('of more agents than one statement takes are added', async () => {
      await using home = await open()
      const { calls } = home.store
      const single = { calls: 1, refused: 0, failed: 0 }
      const ids = Array.from({ length: 1_201 }, (_, index) => `agent-${index}`)
      for (let round = 0; round < 2; round++) await calls.add(1, new Map(ids.map((id) => [id, single])))
      expect(await calls.days('agent-1200', 0)).toMatchObject([{ calls: 2 }])
    })
  })
}
