import { describe, expect, test } from 'vitest'
import type { StoredWebhook } from '../../schemas/webhook.ts'
import { sampleId } from '../support/entries.ts'
import type { StoreHome } from './contract.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

const webhook = (number: number, more: Partial<StoredWebhook> = {}): StoredWebhook => ({
  id: sampleId(number),
  owner: '["i","ada"]',
  url: 'https://example.com/hook',
  sealed: 'c2VhbGVk',
  kinds: ['listed', 'deleted'],
  mine: true,
  created_at: at(number),
  version: 1,
  position: 0,
  pending: null,
  next_at: at(0),
  failures: 0,
  failing_since: null,
  disabled_at: null,
  deliveries: [],
  ...more,
})

/** What every store does with webhooks. */
export function webhookContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: a webhook`, () => {
    test('is found by its id and its owner, in this and in another process, up to the limit of its owner', async () => {
      await using home = await open()
      const { webhooks } = home.store
      const elsewhere = (await home.another()).webhooks
      expect(await webhooks.add(webhook(1), 2)).toBe(true)
      expect(await webhooks.add(webhook(2), 2)).toBe(true)
      expect(await webhooks.add(webhook(3), 2)).toBe(false)
      expect(await webhooks.add(webhook(4, { owner: '["i","eve"]' }), 2)).toBe(true)
      expect(await elsewhere.get(sampleId(1))).toEqual(webhook(1))
      expect(await elsewhere.get(sampleId(3))).toBeUndefined()
      expect((await elsewhere.list('["i","ada"]')).map(({ id }) => id)).toEqual([sampleId(2), sampleId(1)])
      expect(await elsewhere.remove(sampleId(1))).toBe(true)
      expect(await webhooks.remove(sampleId(1))).toBe(false)
    })

    test('is due where it is behind the registry and its time has come, the longest due first', async () => {
      await using home = await open()
      const { webhooks } = home.store
      await webhooks.add(webhook(1, { next_at: at(5) }), 9)
      await webhooks.add(webhook(2, { next_at: at(4) }), 9)
      await webhooks.add(webhook(3, { position: 7 }), 9)
      await webhooks.add(webhook(4, { next_at: at(6) }), 9)
      await webhooks.add(webhook(5, { next_at: null }), 9)
      await webhooks.add(webhook(6, { next_at: at(50) }), 9)
      const dueQuery = { now: at(5), latest: at(40), revision: 7, limit: 10, busy: [] }
      const ids = async (more = {}) => (await webhooks.due({ ...dueQuery, ...more })).map(({ id }) => id)
      expect(await ids()).toEqual([2, 1, 6].map(sampleId))
      expect(await ids({ limit: 1 })).toEqual([sampleId(2)])
      expect(await ids({ busy: [sampleId(2)] })).toEqual([1, 6].map(sampleId))
      expect(await ids({ revision: 0 })).toEqual([sampleId(3)])
    })

    test('advances, unless another process advanced it or its owner changed it meanwhile', async () => {
      await using home = await open()
      const { webhooks } = home.store
      await webhooks.add(webhook(1), 9)
      const delivery = {
        id: 'd',
        at: at(1),
        ok: false,
        status: 500,
        failure: 'status',
        detail: null,
        ms: 3,
      } as const
      const progress = {
        position: 3,
        pending: 9,
        next_at: at(9),
        failures: 1,
        failing_since: at(1),
        disabled_at: null,
        deliveries: [delivery],
      }
      expect(await webhooks.move(webhook(1), progress)).toBe(true)
      const moved = webhook(1, progress)
      expect(await webhooks.get(sampleId(1))).toEqual(moved)
      expect(await webhooks.move(webhook(1), { ...progress, position: 1 })).toBe(false)
      const settings = { url: 'https://example.org/', kinds: ['liveness' as const] }
      expect(await webhooks.set(sampleId(1), 1, settings)).toBe(true)
      expect(await webhooks.set(sampleId(1), 1, { mine: false })).toBe(false)
      expect(await webhooks.move(moved, { ...progress, position: 5 })).toBe(false)
      expect(await webhooks.get(sampleId(1))).toEqual({
        ...moved,
        url: 'https://example.org/',
        kinds: ['liveness'],
        version: 2,
      })
    })
  })
}
