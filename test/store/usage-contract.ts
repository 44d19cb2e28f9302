import { describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { QuotaNumbers } from '../../schemas/quota.ts'
import { principalKey } from '../../src/common/principal-key.ts'
import type { Decision, Store } from '../../src/store/store.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'
import type { StoreHome } from './contract.ts'

const ownerOf = (subject: string, namespace: string | null = null) => ({
  issuer: 'urn:test',
  subject,
  namespace,
})
const accountOf = (subject: string) => principalKey(ownerOf(subject))
const nothing: QuotaNumbers = { entries: 0, stage_entries: 0, bytes: 0, versions_per_day: 0 }

/** A decision that allows so many entries of an account. */
function upTo(entries: number): Decision['admit'] {
  return ({ after, used }) => {
    if (after.entries > entries && after.entries > used.entries)
      throw new Failure('quota_exceeded', 'Too many.')
  }
}

async function change(store: Store, entry: StoredEntry, admit?: Decision['admit']) {
  return await store.change(async (reads) => {
    const before = await reads.entry({ id: entry.id })
    return { before, entry, audit: { actor: null, action: 'test' }, admit }
  })
}

async function used(store: Store, account: string): Promise<QuotaNumbers> {
  const found = await store.usage.get([account])
  return found.get(account)?.used ?? nothing
}

/** The bytes that are counted for an entry as it is stored now. */
async function bytesOf(store: Store, { id }: StoredEntry): Promise<number> {
  const stored = await store.read.entry({ id })
  return stored ? Buffer.byteLength(JSON.stringify(stored)) - String(stored.revision).length : 0
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'ok',
    (thrown) => (thrown instanceof Failure ? thrown.code : String(thrown)),
  )
}

/** What every store does to count what owners use. */
export function usageContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: the usage of an owner`, () => {
    test('is nothing for an account that is not known', async () => {
      await using home = await open()
      expect(await home.store.usage.get(['nobody'])).toEqual(
        new Map([['nobody', { used: nothing, limits: {} }]]),
      )
    })

    test.each(['change', 'write'] as const)('is counted in the transaction of a %s', async (way) => {
      await using home = await open()
      const { store } = home
      const put = (entry: StoredEntry) =>
        way === 'change' ? change(store, entry) : store.write((writer) => writer.put(entry))
      const ada = accountOf('ada')
      const first = sampleEntry({ owner: ownerOf('ada'), state: 'STAGE', description: 'Zażółć.' })
      const second = sampleEntry({ owner: ownerOf('ada') })
      await put(first)
      await put(second)
      const both = (await bytesOf(store, first)) + (await bytesOf(store, second))
      expect(await used(store, ada)).toEqual({
        entries: 2,
        stage_entries: 1,
        bytes: both,
        versions_per_day: 1,
      })

      await put({ ...first, state: 'ACTIVE', description: 'Longer than before.' })
      const grown = (await bytesOf(store, first)) + (await bytesOf(store, second))
      expect(await used(store, ada)).toEqual({
        entries: 2,
        stage_entries: 0,
        bytes: grown,
        versions_per_day: 2,
      })

      await put({ ...second, owner: ownerOf('bob') })
      expect(await used(store, ada)).toMatchObject({ entries: 1, bytes: await bytesOf(store, first) })
      expect(await used(store, accountOf('bob'))).toMatchObject({
        entries: 1,
        bytes: await bytesOf(store, second),
      })

      await put({ ...first, deleted: true })
      expect(await used(store, ada)).toEqual({ ...nothing, versions_per_day: 2 })
      await put({ ...first, deleted: true, description: 'Deleted already.' })
      expect(await used(store, ada)).toEqual({ ...nothing, versions_per_day: 2 })
      await put(first)
      expect(await used(store, ada)).toMatchObject({ entries: 1, stage_entries: 1 })
    })

    test('of a claimed namespace is that of all its subjects together', async () => {
      await using home = await open()
      const { store } = home
      for (const subject of ['ada', 'bob']) {
        await change(store, sampleEntry({ owner: ownerOf(subject, 'com.team') }))
      }
      expect(await used(store, 'com.team')).toMatchObject({ entries: 2 })
      expect(await used(store, accountOf('ada'))).toEqual(nothing)
    })

    test('leaves out hosted and unowned entries', async () => {
      await using home = await open()
      const { store } = home
      await change(store, sampleEntry())
      await change(store, sampleEntry({ hosted: true, owner: ownerOf('ada') }))
      expect(await used(store, accountOf('ada'))).toEqual(nothing)
    })

    test('is exact under concurrent changes through two instances: exactly the limit succeeds', async () => {
      await using home = await open()
      const stores = [home.store, await home.another()]
      const entries = Array.from({ length: 60 }, () => sampleEntry({ owner: ownerOf('ada') }))
      const codes = await Promise.all(
        entries.map((entry, at) => codeOf(change(stores[at % 2] as Store, entry, upTo(25)))),
      )
      expect(codes.filter((code) => code === 'ok')).toHaveLength(25)
      expect(codes.filter((code) => code === 'quota_exceeded')).toHaveLength(35)
      expect(await used(home.store, accountOf('ada'))).toMatchObject({ entries: 25 })
      const listed = await Promise.all(entries.map(({ id }) => home.store.read.entry({ id })))
      expect(listed.filter(Boolean)).toHaveLength(25)
      expect(await home.store.read.revision()).toBe(25)
    })

    test('sees deletions of the same batch, and those give room', async () => {
      await using home = await open()
      const { store } = home
      const [old, fresh, more] = [1, 2, 3].map(() => sampleEntry({ owner: ownerOf('ada') }))
      if (!old || !fresh || !more) throw new Error('There are no entries.')
      await change(store, old, upTo(1))
      expect(await codeOf(change(store, fresh, upTo(1)))).toBe('quota_exceeded')
      const codes = await Promise.all([
        codeOf(change(store, { ...old, deleted: true }, upTo(1))),
        codeOf(change(store, fresh, upTo(1))),
        codeOf(change(store, more, upTo(1))),
      ])
      expect(codes).toEqual(['ok', 'ok', 'quota_exceeded'])
    })

    test('is given to a decision as it is before and after its change, with the limits that were set', async () => {
      await using home = await open()
      const { store } = home
      const ada = accountOf('ada')
      await change(store, sampleEntry({ owner: ownerOf('ada') }))
      await store.usage.setLimit(ada, 'entries', 7)
      await store.usage.setLimit(ada, 'bytes', 9)
      await store.usage.setLimit(ada, 'entries', 8)
      const before = await used(store, ada)
      const entry = sampleEntry({ owner: ownerOf('ada'), state: 'STAGE' })
      const seen: unknown[] = []
      await change(store, entry, (usage) => void seen.push(usage))
      expect(seen).toEqual([
        {
          account: ada,
          used: before,
          after: {
            entries: 2,
            stage_entries: 1,
            bytes: before.bytes + (await bytesOf(store, entry)),
            versions_per_day: 1,
          },
          limits: { entries: 8, bytes: 9 },
        },
      ])
      await store.usage.setLimit(ada, 'entries', null)
      const other = await home.another()
      expect((await other.usage.get([ada])).get(ada)?.limits).toEqual({ bytes: 9 })
    })

    test('is ranked by the share of the limits, the fullest account first, page by page', async () => {
      await using home = await open()
      const { store } = home
      const limits = { entries: 10, stage_entries: 4, bytes: 10 ** 9, versions_per_day: 1000 }
      for (const subject of ['ada', 'ada', 'bob', 'carl', 'dora'])
        await change(store, sampleEntry({ owner: ownerOf(subject), state: 'STAGE' }))
      const gone = sampleEntry({ owner: ownerOf('gone'), state: 'STAGE' })
      await change(store, gone)
      await change(store, { ...gone, deleted: true })
      await store.usage.setLimit(accountOf('bob'), 'entries', 0)
      await store.usage.setLimit(accountOf('dora'), 'stage_entries', 3)
      await store.usage.setLimit('com.unused', 'entries', 5)
      const ranked = await store.usage.rank(limits, 10)
      expect(ranked.map(({ account, share }) => [account, share])).toEqual([
        [accountOf('bob'), 1],
        [accountOf('ada'), 0.5],
        [accountOf('dora'), 1 / 3],
        [accountOf('carl'), 0.25],
        ['com.unused', 0],
      ])
      expect(ranked[0]).toMatchObject({ used: { entries: 1, stage_entries: 1 }, limits: { entries: 0 } })
      for (const [index, last] of ranked.entries())
        expect(await store.usage.rank(limits, 10, last)).toEqual(ranked.slice(index + 1))
      expect(await store.usage.rank(limits, 2)).toEqual(ranked.slice(0, 2))
      const unlimited = await store.usage.rank(null, 10)
      expect(unlimited.map(({ account, share }) => [account, share])).toEqual([
        [accountOf('bob'), 1],
        [accountOf('dora'), 1 / 3],
        [accountOf('ada'), 0],
        [accountOf('carl'), 0],
        ['com.unused', 0],
      ])
    })

    test('ends with a purge of its entries, and without its limits with the deletion of the data of the owner', async () => {
      await using home = await open()
      const { store } = home
      const [gone, left] = [sampleEntry({ owner: ownerOf('ada') }), sampleEntry({ owner: ownerOf('ada') })]
      for (const entry of [gone, left]) await change(store, entry)
      await store.retention.purge(gone, [], { actor: null, action: 'purge' })
      expect(await used(store, accountOf('ada'))).toMatchObject({
        entries: 1,
        bytes: await bytesOf(store, left),
      })
      await store.usage.setLimit(accountOf('ada'), 'entries', 5)
      const pseudonym = { issuer: 'urn:deleted', subject: 'x' }
      await store.personalData.forget({ issuer: 'urn:test', subject: 'ada' }, pseudonym)
      expect((await store.usage.get([accountOf('ada')])).get(accountOf('ada'))).toEqual({
        used: { ...nothing, versions_per_day: 2 },
        limits: { entries: 5 },
      })
      expect(await used(store, principalKey(pseudonym))).toMatchObject({ entries: 1 })
    })

    test('counts the versions of a day for an owner who deletes everything and comes back, but not by name', async () => {
      await using home = await open()
      const { store } = home
      const forget = () =>
        store.personalData.forget({ issuer: 'urn:test', subject: 'ada' }, { issuer: 'x', subject: 'y' })
      for (const total of [1, 2]) {
        await change(store, sampleEntry({ owner: ownerOf('ada') }))
        await forget()
        expect(await used(store, accountOf('ada'))).toEqual({ ...nothing, versions_per_day: total })
        const ranked = await store.usage.rank(null, 10)
        expect(ranked.map(({ account }) => account)).toEqual([principalKey({ issuer: 'x', subject: 'y' })])
      }
      const { rows } = await store.personalData.find({ issuer: 'urn:test', subject: 'ada' }, 'usage', 0, 10)
      expect(rows).toEqual([])
    })

    test('is dumped and restored with the entries', async () => {
      await using home = await open()
      await using target = await open()
      const { store } = home
      const entry = sampleEntry({ owner: ownerOf('ada') })
      await change(store, entry)
      await store.usage.setLimit(accountOf('ada'), 'entries', 5)
      await store.dumpRestore.dump((contents) => target.store.dumpRestore.restore(contents, false))
      expect(await target.store.usage.get([accountOf('ada')])).toEqual(
        await store.usage.get([accountOf('ada')]),
      )
      await change(target.store, { ...entry, deleted: true })
      expect(await used(target.store, accountOf('ada'))).toEqual({ ...nothing, versions_per_day: 1 })
    })
  })
}
