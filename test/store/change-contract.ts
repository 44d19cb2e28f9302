import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { DecisionReads, Store } from '../../src/store/store.ts'
import { type StoredEntry, UnreadableEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'
import type { StoreHome } from './contract.ts'

const audit = { actor: null, action: 'test' }
const owner = (namespace: string | null, subject = 'ada') => ({ issuer: 'urn:test', subject, namespace })

/** What every store must do with concurrent changes, on every database. */
export function changeContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`concurrent changes on ${name}`, () => {
    let home: StoreHome
    let store: Store
    beforeEach(async () => {
      home = await open()
      store = home.store
    })
    afterEach(() => home[Symbol.asyncDispose]())

    /** Publishes an entry whose name is free; `refuse` reads further. */
    const publish = (
      entry: StoredEntry,
      refuse?: (reads: DecisionReads) => Promise<boolean>,
      within = store,
    ) =>
      within.change(async (reads) => {
        const before = await reads.entry({ package_name: entry.package_name })
        if (before || (await refuse?.(reads))) throw new Failure('conflict', 'No.')
        return { before, entry, audit }
      })
    const edit = (id: string, change: (entry: StoredEntry) => StoredEntry, within = store) =>
      within.change(async (reads) => {
        const before = await reads.entry({ id })
        if (!before) throw new Failure('not_found', 'No.')
        return { before, entry: change(before), audit }
      })
    const codes = async (calls: readonly Promise<unknown>[]) =>
      (await Promise.allSettled(calls)).map((outcome) =>
        outcome.status === 'fulfilled'
          ? 'done'
          : ((outcome.reason as { code?: string }).code ?? String(outcome.reason)),
      )

    test('each gets a revision, a change and an audit event of its own, and is read as it was written', async () => {
      const entries = Array.from({ length: 100 }, () => sampleEntry())
      const done = await Promise.all(entries.map((entry) => publish(entry)))
      expect(done.map(({ entry }) => entry)).toEqual(entries)
      expect(done.map(({ revision }) => revision)).toEqual(entries.map((_, index) => index + 1))
      const changes = await store.changes(0, 200)
      expect(changes.map(({ entry_id }) => entry_id)).toEqual(entries.map(({ id }) => id))
      expect(changes.map(({ revision }) => revision)).toEqual(done.map(({ revision }) => revision))
      for (const [index, entry] of entries.entries()) {
        expect(await store.read.entry({ id: entry.id })).toEqual({ ...entry, revision: index + 1 })
        const [event, ...more] = await store.read.audit(entry.id, 5)
        expect(event).toMatchObject({ revision: index + 1, action: 'test', before: null })
        expect(more).toEqual([])
      }
    })

    test('they share commits', async () => {
      let decisions = 0
      let commits = 0
      const stop = new AbortController()
      const watching = (async () => {
        for await (const _ of store.wake(stop.signal)) commits++
      })()
      await Promise.all(
        Array.from({ length: 60 }, () =>
          store.change(async () => {
            decisions++
            return { before: undefined, entry: sampleEntry(), audit }
          }),
        ),
      )
      stop.abort()
      await watching
      expect(decisions).toBe(60)
      expect(commits).toBeLessThan(10)
    })

    test('of two with the same name, only one succeeds', async () => {
      const twins = [sampleEntry(), sampleEntry({ package_name: 'com.sample.twin' })]
      const entries = [...twins, { ...sampleEntry(), package_name: 'com.sample.twin' }]
      expect(await codes(entries.map((entry) => publish(entry)))).toEqual(['done', 'done', 'conflict'])
    })

    test('of two with confusable names, only one succeeds', async () => {
      const names = ['com.sample.mail', 'com.sample.rnail']
      const alike = names.map((package_name) => sampleEntry({ package_name }))
      const isAlike = (entry: StoredEntry) => async (reads: DecisionReads) =>
        (await reads.lookalikes(entry.package_name)).length > 0
      expect(await codes(alike.map((entry) => publish(entry, isAlike(entry))))).toEqual(['done', 'conflict'])
    })

    test('of two that claim one namespace, only one succeeds, and its holder may publish more', async () => {
      const isOthers = (subject: string) => async (reads: DecisionReads) =>
        (await reads.claims(['com.new'])).some(({ holder }) => holder.subject !== subject)
      const owners = [owner('com.new'), owner('com.new', 'bob'), owner('com.new')]
      const calls = owners.map((entryOwner) =>
        publish(sampleEntry({ owner: entryOwner }), isOthers(entryOwner.subject)),
      )
      expect(await codes(calls)).toEqual(['done', 'conflict', 'done'])
    })

    test('one that waits for a claim to be given up gets it', async () => {
      const held = sampleEntry({ owner: owner('com.held') })
      await publish(held)
      const isHeld = async (reads: DecisionReads) => (await reads.claims(['com.held'])).length > 0
      const calls = [
        edit(held.id, (entry) => ({ ...entry, owner: owner(null) })),
        publish(sampleEntry(), isHeld),
      ]
      expect(await codes(calls)).toEqual(['done', 'done'])
    })

    test('many of one entry, from two instances, each build on the one before', async () => {
      const entries = [sampleEntry(), sampleEntry(), sampleEntry()]
      for (const entry of entries) await publish({ ...entry, description: '0' })
      const other = await home.another()
      const more = (entry: StoredEntry) => ({ ...entry, description: `${Number(entry.description) + 1}` })
      const calls = Array.from({ length: 60 }, (_, index) =>
        edit(entries[index % 3]?.id ?? '', more, index % 2 ? store : other),
      )
      const done = await Promise.all(calls)
      expect(new Set(done.map(({ revision }) => revision)).size).toBe(60)
      await home.awaitRevision(store, 63)
      const now = await store.read.entries(entries.map(({ id }) => id))
      expect(now.map(({ description }) => description)).toEqual(['20', '20', '20'])
      expect(await store.read.revision()).toBe(63)
    })

    test('many of one entry are decided at most twice, in order of arrival, and delay no change of other entries', async () => {
      const [entry, other] = [sampleEntry(), sampleEntry()]
      await publish({ ...entry, description: '' })
      let decisions = 0
      const edits = Array.from({ length: 200 }, (_, index) =>
        edit(entry.id, (before) => {
          decisions++
          return { ...before, description: `${before.description}${index} ` }
        }),
      )
      const { revision } = await publish(other)
      await Promise.all(edits)
      expect(decisions).toBeLessThanOrEqual(400)
      expect(revision).toBeLessThan(10)
      const inOrder = Array.from({ length: 200 }, (_, index) => `${index} `).join('')
      expect((await store.read.entry({ id: entry.id }))?.description).toBe(inOrder)
    })

    test('a refused one and a faulty one do not affect the others', async () => {
      const spoilt = sampleEntry()
      await publish(spoilt)
      await home.spoil(spoilt.id, '{"id": 5}')
      const calls = [
        publish(sampleEntry()),
        publish(sampleEntry(), async () => true),
        store.change(async () => {
          throw new TypeError('A fault.')
        }),
        edit(spoilt.id, (entry) => entry),
        publish(sampleEntry()),
      ]
      const outcomes = await Promise.allSettled(calls)
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'rejected',
        'rejected',
        'fulfilled',
      ])
      const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined))
      expect(reasons[1]).toMatchObject({ code: 'conflict' })
      expect(reasons[2]).toBeInstanceOf(TypeError)
      expect(reasons[3]).toBeInstanceOf(UnreadableEntry)
      expect(await store.read.revision()).toBe(3)
    })

    test('one whose read the database refuses does not affect concurrent ones', async () => {
      const entry = sampleEntry()
      await publish(entry)
      const named = (package_name: string) =>
        store.change(async (reads) => {
          const before = await reads.entry({ package_name })
          if (!before) throw new Failure('not_found', 'No.')
          return { before, entry: before, audit }
        })
      const [odd, ...others] = await codes([
        named('com.sample.\0'),
        named(entry.package_name),
        publish(sampleEntry()),
        named('com.sample.nobody'),
      ])
      expect(['invalid_request', 'not_found']).toContain(odd)
      expect(others).toEqual(['done', 'done', 'not_found'])
    })

    test('one whose write fails leaves no trace, and the others are written', async () => {
      const taken = sampleEntry()
      await publish(taken)
      const blind = { ...sampleEntry(), package_name: taken.package_name }
      const calls = [
        publish(sampleEntry()),
        store.change(async () => ({ before: undefined, entry: blind, audit })),
        publish(sampleEntry()),
      ]
      const outcomes = await Promise.allSettled(calls)
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect((await store.changes(0, 10)).map(({ revision }) => revision)).toEqual([1, 2, 3])
      expect(await store.read.entry({ id: blind.id })).toBeUndefined()
    })
  })
}
