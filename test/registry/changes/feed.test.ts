import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RegistryChange } from '../../../schemas/change.ts'
import { unseen } from '../../../schemas/liveness.ts'
import { type ChangeFeed, createChangeFeed, type FollowedSpan } from '../../../src/registry/changes/feed.ts'
import { createReadChanges } from '../../../src/registry/changes/read-changes.ts'
import { createViews } from '../../../src/registry/entry/view.ts'
import { createLivenessCache } from '../../../src/registry/liveness/liveness-cache.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { Store } from '../../../src/store/store.ts'
import type { StoredEntry } from '../../../src/store/stored-entry.ts'
import { temporaryFolder } from '../../support/command.ts'
import { sampleEntry } from '../../support/entries.ts'

const site = () => ({ base_url: 'http://127.0.0.1', site_url: 'http://127.0.0.1' })
const follower = { counted_as: 'somebody', has_token: false }

let stack: AsyncDisposableStack
let store: Store
let feed: ChangeFeed
/** How often the log was read. */
let reads: number
/** Resolves once the tail may read the end of the log. */
let barrier: Promise<void>
/** The apparent revision of the log after a restore of the database. */
let restoredTo: number
const faults: unknown[] = []

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  store = stack.use(await openSqliteStore(join(folder.path, 'registry.sqlite')))
  reads = 0
  barrier = Promise.resolve()
  restoredTo = Number.POSITIVE_INFINITY
  const watched: Store = {
    ...store,
    read: {
      ...store.read,
      async revision() {
        await barrier
        return Math.min(restoredTo, await store.read.revision())
      },
      latest: async () => Math.min(restoredTo, await store.read.latest()),
    },
    async changes(...range) {
      reads += 1
      return (await store.changes(...range)).filter(({ revision }) => revision <= restoredTo)
    },
  }
  const onError = (fault: unknown) => void faults.push(fault)
  const livenessCache = createLivenessCache(store.liveness, [])
  const views = createViews(site, livenessCache)
  const read = createReadChanges({ store: watched, views, livenessCache, onError })
  feed = stack.use(createChangeFeed({ store: watched, read, onError, limits: { address: 500 } }))
})
afterEach(async () => {
  await stack.disposeAsync()
  expect(faults.splice(0)).toEqual([])
})

const put = (...entries: StoredEntry[]) =>
  store.write(async (writer) => {
    for (const entry of entries) await writer.put(entry)
  })
const twoAgents = () =>
  [
    sampleEntry({ package_name: 'com.example.first' }),
    sampleEntry({ package_name: 'com.example.second' }),
  ] as const
const changesSince = async (since = 0) => (await feed.page(since, 100)).changes
const brief = (changes: readonly RegistryChange[]) =>
  changes.map(({ revision, kind, id }) => ({ revision, kind, id }))

/** Follows until it has everything up to a revision. */
async function collect(from: AsyncGenerator<FollowedSpan>, up_to: number): Promise<RegistryChange[]> {
  const changes: RegistryChange[] = []
  for (;;) {
    const { value } = await from.next()
    if (!value) return changes
    changes.push(...value.changes)
    if (value.up_to >= up_to) return changes
  }
}

test('whoever follows one agent gets its changes alone', async () => {
  const [first, second] = twoAgents()
  await put(first, second)
  const stop = new AbortController()
  const following = feed.follow(0, follower, stop.signal, second.package_name)
  expect(brief(await collect(following, 2))).toEqual([{ revision: 2, kind: 'listed', id: second.id }])
  await put({ ...first, name: 'Changed' })
  await put({ ...second, name: 'Changed' })
  expect(brief(await collect(following, 4))).toEqual([{ revision: 4, kind: 'listed', id: second.id }])
  stop.abort()
  await following.return(undefined)
})

describe('a page of changes', () => {
  test('reports each listed entry once, in its current state, at its newest revision', async () => {
    const [first, second] = [sampleEntry(), sampleEntry()]
    await put(first, second)
    await put({ ...first, name: 'Changed' })
    const page = await feed.page(0, 100)
    expect(page).toMatchObject({ next_since: 3, revision: 3, more: false })
    expect(page.changes).toMatchObject([
      { revision: 2, kind: 'listed', id: second.id },
      { revision: 3, kind: 'listed', id: first.id, agent: { name: 'Changed', revision: 3 } },
    ])
  })

  test('of one agent has its changes alone, and goes on behind those of others', async () => {
    const [first, second] = twoAgents()
    const hidden = sampleEntry({ package_name: 'com.example.hidden', state: 'STAGE' })
    await put(first, second, hidden)
    await put({ ...first, name: 'Changed' })
    await put({ ...second, name: 'Changed too' })
    for (const agent of [first.package_name, first.id]) {
      const page = await feed.page(0, 100, agent)
      expect(brief(page.changes)).toEqual([{ revision: 4, kind: 'listed', id: first.id }])
      expect(page).toMatchObject({ next_since: 5, revision: 5, more: false })
      expect((await feed.page(page.next_since, 100, agent)).changes).toEqual([])
    }
    // Nobody learns that an agent in STAGE exists.
    const empty = { changes: [], next_since: 5, revision: 5, more: false }
    expect(await feed.page(0, 100, hidden.package_name)).toEqual(empty)
    expect(await feed.page(0, 100, 'com.example.unheard')).toEqual(empty)
    expect(await feed.page(0, 1, hidden.package_name)).toEqual(empty)
    const short = await feed.page(0, 1, first.package_name)
    expect([short.next_since, short.more]).toEqual([1, true])
    await put({ ...first, deleted: true })
    expect(brief((await feed.page(5, 100, first.package_name)).changes)).toEqual([
      { revision: 6, kind: 'deleted', id: first.id },
    ])
  })

  test('of one agent tells neither of its changes in STAGE nor of whether it answered there', async () => {
    const entry = sampleEntry({ state: 'STAGE' })
    const place = 'https://agent.example'
    await put(entry)
    await store.liveness.watch([{ entry_id: entry.id, place, active: false }])
    const row = await store.liveness.get(entry.id)
    const shown = { ...unseen, status: 'alive' as const, since: entry.created_at }
    await store.liveness.save([{ ...(row as NonNullable<typeof row>), shown }])
    await put(sampleEntry())
    const revision = await store.read.revision()
    expect((await store.changes(0, 10)).map(({ kind, seen }) => [kind, seen])).toContainEqual([
      'liveness',
      'unseen',
    ])
    const empty = { changes: [], next_since: revision, revision, more: false }
    for (const limit of [1, 2, 100]) expect(await feed.page(0, limit, entry.id)).toEqual(empty)
  })

  test('does not report entries that were never public', async () => {
    const entry = sampleEntry({ state: 'STAGE' })
    await put(entry)
    await put({ ...entry, name: 'Secret' })
    await put({ ...entry, deleted: true })
    expect(await feed.page(0, 100)).toEqual({ changes: [], next_since: 3, revision: 3, more: false })
  })

  test('reports that a public entry was hidden, and no changes while it is hidden', async () => {
    const entry = sampleEntry()
    await put(entry)
    await put({ ...entry, state: 'STAGE' })
    await put({ ...entry, state: 'STAGE', name: 'Secret' })
    await put({ ...entry, state: 'STAGE', deleted: true })
    const [gone, ...more] = await changesSince()
    expect(more).toEqual([])
    expect(gone).toEqual({
      revision: 2,
      kind: 'unlisted',
      at: expect.any(String),
      id: entry.id,
      package_name: entry.package_name,
    })
    expect(JSON.stringify(gone)).not.toContain('Secret')
  })

  test('distinguishes a suspension, a deletion, and the return from each', async () => {
    const entry = sampleEntry()
    await put(entry)
    await put({ ...entry, suspended: { reason: 'spam', at: entry.created_at } })
    await put(entry)
    await put({ ...entry, deleted: true })
    await put(entry)
    expect(brief(await changesSince())).toEqual([
      { revision: 2, kind: 'unlisted', id: entry.id },
      { revision: 4, kind: 'deleted', id: entry.id },
      { revision: 5, kind: 'listed', id: entry.id },
    ])
  })

  test('reports liveness only for listed entries, and only the newest', async () => {
    const [shown, hidden] = [sampleEntry(), sampleEntry({ state: 'STAGE' })]
    await put(shown, hidden)
    for (const { id } of [shown, hidden]) {
      await store.liveness.watch([{ entry_id: id, place: 'here', active: true }])
      const probe = await store.liveness.get(id)
      if (!probe) throw new Error('It is not watched.')
      for (const status of ['alive', 'dead'] as const) {
        await store.liveness.save([{ ...probe, shown: { ...unseen, status } }])
      }
    }
    expect(brief(await changesSince(2))).toEqual([{ revision: 4, kind: 'liveness', id: shown.id }])
  })

  test('is short where entries are long, and the next one goes on there', async () => {
    const long = Array.from({ length: 6 }, () => sampleEntry({ description: 'x'.repeat(200_000) }))
    await put(...long)
    const seen: string[] = []
    let since = 0
    for (let more = true; more; ) {
      const page = await feed.page(since, 100)
      expect(JSON.stringify(page).length).toBeLessThan(1024 * 1024)
      seen.push(...page.changes.map(({ id }) => id))
      more = page.more
      since = page.next_since
    }
    expect(seen).toEqual(long.map(({ id }) => id))
  })

  test('of a revision that is still to come is refused, with the one that is', async () => {
    await put(sampleEntry())
    expect(await feed.page(1, 100)).toEqual({ changes: [], next_since: 1, revision: 1, more: false })
    await expect(feed.page(2, 100)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'The registry is at revision 1, before 2.',
      details: { errors: [{ pointer: '/since' }] },
    })
  })
})

describe('a follower', () => {
  test('gets existing and then new changes, each once and in order', async () => {
    await put(sampleEntry(), sampleEntry())
    const stop = new AbortController()
    const following = feed.follow(0, follower, stop.signal)
    expect(brief(await collect(following, 2)).map(({ revision }) => revision)).toEqual([1, 2])
    const next = following.next()
    const { revision } = await put(sampleEntry())
    expect((await next).value).toMatchObject({ changes: [{ revision }], up_to: revision })
    stop.abort()
    expect((await following.next()).done).toBe(true)
  })

  test('shares one reading of the log with all others, and gets the very same change', async () => {
    await put(sampleEntry())
    const stop = new AbortController()
    const all = Array.from({ length: 400 }, () => feed.follow(1, follower, stop.signal))
    await Promise.all(all.map((item) => item.next()))
    // Those that come first read for themselves until the tail has begun; from here on it has.
    await put(sampleEntry())
    await Promise.all(all.map((item) => item.next()))
    const before = reads
    const waiting = all.map((item) => item.next())
    await put(sampleEntry())
    const spans = await Promise.all(waiting)
    expect(reads - before).toBeLessThan(5)
    const changes = new Set(spans.map(({ value }) => value?.changes[0]))
    expect(changes.size).toBe(1)
    expect(Object.isFrozen([...changes][0])).toBe(true)
    stop.abort()
    await Promise.all(all.map((item) => item.return(undefined)))
  })

  test('that reads no changes for a long time misses none when it continues', async () => {
    const stop = new AbortController()
    const following = feed.follow(0, follower, stop.signal)
    const close = feed.follow(0, follower, stop.signal)
    await Promise.all([following.next(), close.next()])
    for (let batch = 0; batch < 15; batch++) {
      const { revision } = await put(...Array.from({ length: 100 }, () => sampleEntry()))
      await collect(close, revision)
    }
    const { revision } = await put(sampleEntry())
    const seen = (await collect(following, revision)).map((change) => change.revision)
    expect(seen).toEqual(Array.from({ length: 1501 }, (_, index) => index + 1))
    stop.abort()
    await Promise.all([following.return(undefined), close.return(undefined)])
  })

  test('misses no change that is written before the tail has started', async () => {
    const begin = Promise.withResolvers<void>()
    barrier = begin.promise
    const stop = new AbortController()
    const following = feed.follow(0, follower, stop.signal)
    expect((await following.next()).value).toMatchObject({ changes: [], complete: true })
    const next = following.next()
    // By then it has found no further change, and waits.
    while (reads < 2) await nextTurn()
    await put(sampleEntry())
    begin.resolve()
    expect((await next).value).toMatchObject({ changes: [{ revision: 1 }] })
    stop.abort()
    await following.return(undefined)
  })

  test('misses no change that is written while it starts', async () => {
    for (let round = 0; round < 20; round++) {
      const since = await store.read.revision()
      const stop = new AbortController()
      const following = feed.follow(since, follower, stop.signal)
      const seen = collect(following, since + 3)
      for (let count = 0; count < 3; count++) {
        await put(sampleEntry())
        await nextTurn()
      }
      expect((await seen).map(({ revision }) => revision)).toEqual([since + 1, since + 2, since + 3])
      stop.abort()
      await following.return(undefined)
    }
  })

  test('learns that the database was restored to an earlier state, and continues from there without a restart', async () => {
    await put(sampleEntry(), sampleEntry())
    const stop = new AbortController()
    const following = feed.follow(2, follower, stop.signal)
    await following.next()
    const next = following.next()
    // The tail has started once it reports this change.
    await put(sampleEntry())
    await next
    restoredTo = 1
    const ended = following.next()
    await put(sampleEntry())
    await expect(ended).rejects.toMatchObject({ code: 'unavailable' })
    const again = feed.follow(3, follower, stop.signal)
    await expect(again.next()).rejects.toMatchObject({ code: 'invalid_request' })
    const restarted = feed.follow(0, follower, stop.signal)
    expect((await restarted.next()).value).toMatchObject({ changes: [{ revision: 1 }], up_to: 1 })
    stop.abort()
    await restarted.return(undefined)
  })

  test('has a seat among so many, and gives it back', async () => {
    const { signal } = new AbortController()
    const all = Array.from({ length: 500 }, () => feed.follow(0, follower, signal))
    await Promise.all(all.map((item) => item.next()))
    const another = () => feed.follow(0, follower, signal)
    await expect(another().next()).rejects.toMatchObject({ code: 'rate_limited' })
    const other = feed.follow(0, { ...follower, counted_as: 'another' }, signal)
    await other.next()
    await all[0]?.return(undefined)
    const last = another()
    expect((await last.next()).done).toBe(false)
    await Promise.all([...all, other, last].map((left) => left.return(undefined)))
  })
})
