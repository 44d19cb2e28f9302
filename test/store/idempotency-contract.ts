import { describe, expect, test } from 'vitest'
import type { IdempotentCall } from '../../schemas/idempotency.ts'
import { type StoreHome, storeTime } from './contract.ts'

const call = (more: Partial<IdempotentCall> = {}): IdempotentCall => ({
  owner: '["i","ada"]',
  action: 'svc.registry publish',
  key: 'k1',
  digest: 'abc',
  ...more,
})
const later = storeTime + 60_000
const most = 8

/** What every store does with idempotent calls. */
export function idempotencyContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: a call with a key`, () => {
    test('begins once, across callers and instances, and keeps its result', async () => {
      await using home = await open()
      const other = await home.another()
      const begun = await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          (at % 2 === 0 ? home.store : other).idempotency.begin(call(), `holder-${at}`, later, most),
        ),
      )
      expect(begun.filter((earlier) => earlier === undefined)).toHaveLength(1)
      expect(begun).toContainEqual({ digest: 'abc', output: null })
      const holder = `holder-${begun.indexOf(undefined)}`
      await other.idempotency.keep(call(), holder, '{"id":1}', later)
      expect(await home.store.idempotency.begin(call({ digest: 'def' }), 'again', later, most)).toEqual({
        digest: 'abc',
        output: '{"id":1}',
      })
      await home.store.idempotency.forget(call(), holder)
      expect(await other.idempotency.begin(call(), 'again', later, most)).toMatchObject({
        output: '{"id":1}',
      })
    })

    test('is separate for each caller, action and key', async () => {
      await using home = await open()
      const { idempotency } = home.store
      for (const more of [{}, { owner: '["i","eve"]' }, { action: 'svc.playground create' }, { key: 'k2' }])
        expect(await idempotency.begin(call(more), JSON.stringify(more), later, most)).toBeUndefined()
    })

    test('begins again after it is forgotten or has expired', async () => {
      await using home = await open()
      const { idempotency } = home.store
      await idempotency.begin(call(), 'one', later, most)
      await idempotency.forget(call(), 'another')
      expect(await idempotency.begin(call(), 'two', later, most)).toEqual({ digest: 'abc', output: null })
      await idempotency.forget(call(), 'one')
      expect(await idempotency.begin(call(), 'lost', storeTime, most)).toBeUndefined()
      expect(await idempotency.begin(call(), 'next', later, most)).toBeUndefined()
      await idempotency.keep(call(), 'lost', '"too late"', later)
      expect(await idempotency.begin(call(), 'other', later, most)).toMatchObject({ output: null })
      await idempotency.keep(call(), 'next', '"in time"', storeTime)
      expect(await idempotency.begin(call(), 'after', later, most)).toBeUndefined()
    })

    test('is limited per caller; the oldest finished one makes room', async () => {
      await using home = await open()
      const { idempotency } = home.store
      await idempotency.begin(call({ key: 'running' }), 'running', storeTime + 1, most)
      for (let at = 0; at < most; at++) {
        await idempotency.begin(call({ key: `k-${at}` }), `h-${at}`, later, most)
        await idempotency.keep(call({ key: `k-${at}` }), `h-${at}`, '1', later + at)
      }
      expect(await idempotency.begin(call({ key: 'k-0' }), 'x', later, most)).toBeUndefined()
      expect(await idempotency.begin(call({ key: 'running' }), 'x2', later, most)).toMatchObject({
        output: null,
      })
      expect(await idempotency.begin(call({ key: 'k-2' }), 'x3', later, most)).toMatchObject({ output: '1' })
    })
  })
}
