import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type LivenessStatus,
  type LivenessStore,
  type StoredLiveness,
  unseen,
} from '../../schemas/liveness.ts'
import { sampleEntry } from '../support/entries.ts'
import { at, type StoreHome, storeTime } from './contract.ts'

const place = '["https://example.com/card",[]]'
const tomorrow = at(2 * 24 * 3_600_000)

/** What every store must do with liveness, on every database. */
export function livenessContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`liveness on ${name}`, () => {
    let home: StoreHome
    let store: LivenessStore
    beforeEach(async () => {
      home = await open()
      store = home.store.liveness
    })
    afterEach(() => home[Symbol.asyncDispose]())

    const watch = (entry_id: string, more = {}) => store.watch([{ entry_id, place, active: true, ...more }])
    const due = async (now = at(0)) => (await store.due(now, tomorrow, 10)).map((entry) => entry.entry_id)
    const seen = async (id: string, status: LivenessStatus, more: Partial<StoredLiveness> = {}) => {
      const before = await store.get(id)
      if (!before) throw new Error(`Nobody watches ${id}.`)
      return { ...before, next_at: at(10), shown: { ...unseen, status, checked_at: at(0) }, ...more }
    }

    test('is due at once when it is new, and then at its stated time', async () => {
      await watch('one')
      expect(await due()).toEqual(['one'])
      await store.save([await seen('one', 'alive')])
      expect(await due()).toEqual([])
      await watch('one')
      expect(await due(at(9))).toEqual([])
      expect(await due(at(10))).toEqual(['one'])
    })

    test('is stored whole, for every instance', async () => {
      await watch('one')
      const result = await seen('one', 'degraded', {
        failures: 2,
        silent_since: at(-5),
        history: { days: [[20_000, 1.5, 3]], latencies: [1, 2] },
        card: { etag: '"x"', last_modified: null, sha256: 'ff', malformed: 'No name.' },
        asked_at: at(-1),
        asked_failure: 'timeout',
      })
      await store.save([result])
      const other = (await home.another()).liveness
      expect(await other.get('one')).toEqual(result)
      expect(await other.get('two')).toBeUndefined()
      expect([...(await other.shown(['one', 'two']))]).toEqual([['one', result.shown]])
    })

    test('is a change of the registry only where the status differs', async () => {
      const entry = sampleEntry()
      await home.store.write((writer) => writer.put(entry))
      await watch(entry.id)
      expect(await store.save([await seen(entry.id, 'alive')])).toBe(2)
      expect(await store.save([await seen(entry.id, 'alive')])).toBe(2)
      expect(await store.save([await seen(entry.id, 'dead')])).toBe(3)
      expect(await home.store.changes(1, 10)).toEqual([
        { revision: 2, entry_id: entry.id, kind: 'liveness', at: at(0), seen: 'listed' },
        { revision: 3, entry_id: entry.id, kind: 'liveness', at: at(0), seen: 'listed' },
      ])
      expect(await home.store.read.entry({ id: entry.id })).toEqual({ ...entry, revision: 1 })
    })

    test('is listed from any probe on', async () => {
      for (const id of ['one', 'two']) await watch(id)
      expect(await store.since(0, 10)).toEqual({ shown: new Map(), sequence: 0 })
      await store.save([await seen('one', 'alive')])
      await store.save([await seen('two', 'alive')])
      const all = await store.since(0, 10)
      expect([[...all.shown.keys()].toSorted(), all.sequence]).toEqual([['one', 'two'], 2])
      expect([...(await store.since(1, 10)).shown.keys()]).toEqual(['two'])
      expect((await store.since(2, 10)).sequence).toBe(2)
      expect(await store.since(0, 1)).toMatchObject({ sequence: 1 })
    })

    test('is due again after a move, and results from the old address are dropped', async () => {
      await watch('one')
      const result = await seen('one', 'alive')
      await watch('one', { place: '["https://example.com/other",[]]' })
      await store.save([result])
      expect((await store.get('one'))?.shown.status).toBe('unknown')
      await store.save([
        await seen('one', 'alive', {
          card: { etag: null, last_modified: null, sha256: 'f', malformed: null },
        }),
      ])
      await watch('one')
      expect(await store.get('one')).toMatchObject({ card: null, next_at: at(0), shown: { status: 'alive' } })
    })

    test('is not due where it is not probed on a schedule, and is deleted where there is nothing to watch', async () => {
      await watch('one')
      const result = await seen('one', 'dead')
      await watch('one', { active: false })
      await store.save([result])
      expect(await due(at(100))).toEqual([])
      expect((await store.get('one'))?.shown.status).toBe('dead')
      await watch('one')
      expect(await due()).toEqual(['one'])
      const before = await home.store.read.revision()
      await watch('one', { place: null })
      expect(await store.get('one')).toBeUndefined()
      expect(await home.store.read.revision()).toBe(before + 1)
      await watch('one', { place: null })
      expect(await home.store.read.revision()).toBe(before + 1)
    })

    test('is counted by days, and the counts of a day replace earlier ones', async () => {
      for (const id of ['one', 'two']) await watch(id)
      const probed = async (id: string, day: number, probes: number, failures: number, ms: number | null) => {
        const before = await seen(id, 'alive')
        const today = { day, probes, failures, latencies: [], p50_ms: ms, p95_ms: ms }
        await store.save([{ ...before, history: { ...before.history, today } }])
      }
      await probed('one', 20_000, 1, 0, 30)
      await probed('one', 20_000, 2, 1, 40)
      await probed('two', 20_000, 9, 9, null)
      await probed('one', 20_002, 1, 0, 50)
      const first = { date: '2024-10-04', probes: 2, failures: 1, p50_ms: 40, p95_ms: 40 }
      const last = { date: '2024-10-06', probes: 1, failures: 0, p50_ms: 50, p95_ms: 50 }
      expect(await store.days('one', 20_000)).toEqual([first, last])
      expect(await store.days('one', 20_001)).toEqual([last])
      expect((await store.days('two', 0))[0]).toMatchObject({ probes: 9, p50_ms: null })
      const { versions, audit, changes, deleted } = {
        versions: at(0),
        audit: at(0),
        changes: at(0),
        deleted: at(0),
      }
      const bounds = { now: storeTime, versions, audit, changes, deleted, max_versions: 9, max_audit: 9 }
      const pruned = await home.store.retention.prune({ ...bounds, liveness: 20_001 })
      expect(pruned.liveness).toBe(2)
      expect(await store.days('one', 0)).toEqual([last])
      await watch('one', { place: null })
      expect(await store.days('one', 0)).toEqual([])
    })

    test('is due where a clock ahead of time put it off', async () => {
      await watch('one')
      await store.save([await seen('one', 'alive', { next_at: at(400 * 24 * 3_600_000) })])
      expect(await due()).toEqual(['one'])
    })
  })
}
