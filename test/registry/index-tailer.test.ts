import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { type Derived, IndexTailer } from '../../src/registry/indexing/index-tailer.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import type { EntryChange } from '../../src/search/search-index.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { currentStore } from '../support/current-store.ts'
import { sampleEntry } from '../support/entries.ts'
import { openRegistry, person, publication } from '../support/registry.ts'

const put = (store: Store, ...entries: ReturnType<typeof sampleEntry>[]) =>
  store.write(async (writer) => {
    for (const entry of entries) await writer.put(entry)
  })

const waitsElsewhere = { onEntryFault: 'wait', waits: 'without fault' } as const

/** A store with switchable failures, over a fresh file with these entries, and an index that follows it. */
async function openHome(failFirst = 0, ...entries: ReturnType<typeof sampleEntry>[]) {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const path = join(folder.path, 'registry.sqlite')
  const store = stack.use(await openSqliteStore(path))
  await put(store, ...entries)
  let failures = failFirst
  const faulty: Store = {
    ...store,
    async changes(after, limit) {
      if (failures > 0) {
        failures -= 1
        throw new Error('The disk is asleep.')
      }
      return await store.changes(after, limit)
    },
    [Symbol.asyncDispose]: async () => {},
  }
  const faults: unknown[] = []
  const index = stack.use(createMemoryIndex())
  const tailer = stack.use(new IndexTailer(faulty, index, (fault) => void faults.push(fault)))
  return {
    path,
    store,
    index,
    tailer,
    faults,
    fail: (times: number) => {
      failures = times
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test('a fault at the start is reported, and repaired by a retry', async () => {
  await using home = await openHome(2, sampleEntry())
  await home.tailer.ready
  expect(home.faults.map(String)).toEqual(['Error: The disk is asleep.', 'Error: The disk is asleep.'])
  await home.tailer.caughtUp(1)
  expect(home.tailer.applied_revision).toBe(1)
})

test('a stop does not wait until everything is derived', async () => {
  await using home = await openHome(0, ...Array.from({ length: 50 }, () => sampleEntry()))
  await home.tailer.ready
  await using index = createMemoryIndex()
  const isBegun = Promise.withResolvers<void>()
  const derived = {
    get applied_revision() {
      return index.applied_revision
    },
    async apply(...change: Parameters<typeof index.apply>) {
      await index.apply(...change)
      isBegun.resolve()
    },
  }
  const tailer = new IndexTailer(home.store, derived, () => {}, { page_size: 10 })
  await isBegun.promise
  await tailer[Symbol.asyncDispose]()
  expect(index.applied_revision).toBe(10)
})

test('a fault after a commit delays the waiting callers, and does not fail their calls', async () => {
  await using home = await openHome()
  await home.tailer.ready
  home.fail(2)
  const { revision } = await put(home.store, sampleEntry())
  await home.tailer.caughtUp(revision)
  expect(home.index.applied_revision).toBe(1)
  expect(home.faults.length).toBeGreaterThan(0)
})

test('many who wait for many commits are all let go', async () => {
  await using home = await openHome()
  const waits = Array.from({ length: 30 }, async () => {
    const { revision } = await put(home.store, sampleEntry())
    await home.tailer.caughtUp(revision)
    expect(home.index.applied_revision).toBeGreaterThanOrEqual(revision)
  })
  await Promise.all(waits)
})

test('more changes than a page, among them several of one entry, leave the index equal to the store', async () => {
  await using home = await openHome()
  const entry = sampleEntry({ name: 'Zebra' })
  await put(home.store, ...Array.from({ length: 450 }, () => sampleEntry()))
  for (const name of ['Zebra', 'Yak', 'Xerus']) await put(home.store, { ...entry, name })
  await home.tailer.caughtUp(453)
  const search = (text: string) =>
    home.index.search({ text, filter: {}, limit: 5, sort: 'relevance' }, new AbortController().signal)
  expect((await search('zebra')).total).toBe(0)
  expect((await search('xerus')).hits.map((hit) => hit.id)).toEqual([entry.id])
  await put(home.store, { ...entry, deleted: true })
  await home.tailer.caughtUp(454)
  expect((await search('xerus')).total).toBe(0)
})

test('an unreadable entry is reported and left out; all others are found', async () => {
  await using home = await openHome()
  const [spoilt, valid] = [sampleEntry({ name: 'Spoilt' }), sampleEntry({ name: 'Sound' })]
  await put(home.store, spoilt, valid)
  await home.tailer.caughtUp(2)
  using database = new DatabaseSync(home.path)
  database.prepare('update entry set document = ? where id = ?').run('{}', spoilt.id)

  await using registry = await openRegistry({ path: home.path })
  expect(await registry.find({})).toEqual({ names: [valid.package_name], total: 1 })
  expect(registry.faults.map(String)).toEqual([expect.stringContaining(spoilt.id)])
  await registry.list(publication('com.after.all'), person('ada'))
  expect((await registry.find({})).total).toBe(2)
})

test('what another instance commits is found within two seconds', async () => {
  await using home = await openHome()
  await using registry = await openRegistry({ path: home.path })
  expect((await registry.find({})).total).toBe(0)
  const started = performance.now()
  await put(home.store, sampleEntry({ name: 'Elsewhere' }))
  await registry.tailer.caughtUp(1)
  expect((await registry.find({ query: 'elsewhere' })).total).toBe(1)
  expect(performance.now() - started).toBeLessThan(2000)
})

test('one that stops does so at once, whatever it waits for', async () => {
  const home = await openHome(1000)
  const started = performance.now()
  await home[Symbol.asyncDispose]()
  expect(performance.now() - started).toBeLessThan(900)
})

test('an index without liveness ignores probes, and stays current', async () => {
  await using home = await openHome()
  const entry = sampleEntry()
  await put(home.store, entry)
  const applied: (readonly [number, number])[] = []
  const derived = {
    applied_revision: 0,
    async apply(changes: readonly unknown[], revision: number) {
      applied.push([changes.length, revision])
      derived.applied_revision = revision
    },
  }
  await using tailer = new IndexTailer(home.store, derived, (fault) => expect.fail(String(fault)))
  await tailer.caughtUp(1)
  const { liveness } = home.store
  await liveness.watch([{ entry_id: entry.id, place: '[null,[]]', active: true }])
  const probe = await liveness.get(entry.id)
  if (!probe) throw new Error('Nobody watches.')
  await tailer.caughtUp(await liveness.save([{ ...probe, shown: { ...probe.shown, status: 'dead' } }]))
  expect(applied).toEqual([
    [1, 1],
    [0, 2],
  ])
})

test('a commit of another process while a page is applied is applied too, even if no commit follows', async () => {
  await using home = await openHome(0, sampleEntry())
  await using other = await openSqliteStore(home.path)
  await using index = createMemoryIndex()
  let isFirst = true
  const derived = {
    get applied_revision() {
      return index.applied_revision
    },
    async apply(...page: Parameters<typeof index.apply>) {
      await index.apply(...page)
      if (isFirst) await put(other, sampleEntry())
      isFirst = false
    },
  }
  await using tailer = new IndexTailer(home.store, derived, () => {})
  await tailer.ready
  await expect.poll(() => tailer.applied_revision).toBe(2)
})

test('who waits for a revision is let go by an index that others have brought further', async () => {
  await using home = await openHome(0, ...Array.from({ length: 5 }, () => sampleEntry()))
  const shared = {
    applied_revision: 0,
    async apply() {
      shared.applied_revision = 5
    },
  }
  await using tailer = new IndexTailer(home.store, shared, () => {}, {
    page_size: 2,
    write_wait_ms: 2 ** 31 - 1,
  })
  await tailer.caughtUp(4)
  await tailer.ready
  expect(shared.applied_revision).toBe(5)
})

test('callers do not wait for an index elsewhere that fails, and learn when it holds everything again', async () => {
  await using home = await openHome(0, sampleEntry())
  let isAway = true
  const elsewhere = {
    applied_revision: 0,
    async apply(_: unknown, revision: number) {
      if (isAway) throw new Error('away')
      elsewhere.applied_revision = revision
    },
  }
  const options = { onEntryFault: 'wait', waits: 'without fault', write_wait_ms: 2 ** 31 - 1 } as const
  await using tailer = new IndexTailer(home.store, elsewhere, () => {}, options)
  await tailer.ready
  expect(tailer.is_failing).toBe(true)
  await tailer.caughtUp(1)
  expect(tailer.applied_revision).toBe(0)
  isAway = false
  await tailer.filled
  expect([tailer.applied_revision, tailer.is_failing]).toEqual([1, false])
})

describe('a store that loses its last commits, as a failover to a late replica does', () => {
  /** A store that can become a copy of itself as it was, and an index that can follow it. */
  async function openPrimary() {
    const stack = new AsyncDisposableStack()
    const folder = stack.use(await temporaryFolder())
    const path = (name: string) => join(folder.path, name)
    let store: Store = stack.use(await openSqliteStore(path('primary')))
    const seen = currentStore(() => store)
    const index = stack.use(createMemoryIndex())
    const losses: string[] = []
    const onError = (fault: unknown) => void losses.push(String(fault))
    return {
      losses,
      follow: (into: Derived = index) => {
        const options = { onLost: () => losses.push('lost'), ...(into.discard && waitsElsewhere) }
        return stack.use(new IndexTailer(seen, into, onError, options))
      },
      write: (...entries: ReturnType<typeof sampleEntry>[]) => put(store, ...entries),
      /** The replica has what was committed so far. */
      replicate() {
        using database = new DatabaseSync(path('primary'))
        database.exec(`vacuum into '${path('replica')}'`)
      },
      async failOver() {
        store = stack.use(await openSqliteStore(path('replica')))
      },
      async found(text: string) {
        const query = { text, filter: {}, limit: 5, sort: 'relevance' } as const
        return (await index.search(query, new AbortController().signal)).total
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  const [unchanged, changed, created] = [
    sampleEntry({ name: 'Yak' }),
    sampleEntry({ name: 'Xerus' }),
    sampleEntry({ name: 'Zebra' }),
  ]

  /** The replica lacks revision 3, of an entry that it has, and 4, of one that it never had. */
  async function loseTwo() {
    const home = await openPrimary()
    await home.write(unchanged, changed)
    home.replicate()
    await home.write({ ...changed, name: 'Quagga' }, created)
    return home
  }

  test('is found out: the index has the entries as they are in it, and what is written later', async () => {
    await using home = await loseTwo()
    const tailer = home.follow()
    await tailer.filled
    expect([await home.found('quagga'), await home.found('zebra')]).toEqual([1, 1])
    await home.failOver()
    void tailer.caughtUp(5)
    await expect.poll(() => tailer.applied_revision).toBe(2)
    expect(home.losses).toEqual([expect.stringContaining('the changes from revision 3 to 4'), 'lost'])
    expect([await home.found('quagga'), await home.found('zebra'), await home.found('xerus')]).toEqual([
      0, 0, 1,
    ])
    await home.write(sampleEntry({ name: 'Wombat' }))
    await tailer.caughtUp(3)
    expect([await home.found('wombat'), await home.found('yak')]).toEqual([1, 1])
    expect(home.losses).toHaveLength(2)
  })

  test('empties an index that cannot go back, which is failing until it is filled again', async () => {
    await using home = await loseTwo()
    let ids = new Set<string>()
    let wasFailing = false
    let tailer: IndexTailer | undefined
    const elsewhere = {
      applied_revision: 0,
      async apply(changes: readonly EntryChange[], revision: number) {
        wasFailing = tailer?.is_failing ?? false
        for (const { id } of changes) ids.add(id)
        elsewhere.applied_revision = revision
      },
      async discard() {
        ids = new Set()
        elsewhere.applied_revision = 0
      },
    }
    tailer = home.follow(elsewhere)
    await tailer.filled
    expect(ids.size).toBe(3)
    await home.failOver()
    void tailer.caughtUp(5)
    await expect.poll(() => tailer.applied_revision).toBe(2)
    await expect.poll(() => tailer.is_failing).toBe(false)
    expect(wasFailing).toBe(true)
    expect([elsewhere.applied_revision, ids]).toEqual([2, new Set([unchanged.id, changed.id])])
    expect(home.losses).toEqual([expect.stringContaining('the changes from revision 3 to 4'), 'lost'])
  })

  test('is not assumed where others have brought an index further than this process has seen', async () => {
    await using home = await loseTwo()
    const shared = {
      applied_revision: 0,
      async apply() {
        shared.applied_revision = 4
      },
      discard: async () => expect.fail('Nothing is lost.'),
    }
    const tailer = home.follow(shared)
    await tailer.filled
    await home.write(sampleEntry())
    await tailer.caughtUp(4)
    expect(home.losses).toEqual([])
  })

  test('is found out although others have written more since than was lost', async () => {
    await using home = await loseTwo()
    const tailer = home.follow()
    await tailer.filled
    await home.failOver()
    await home.write(...['Wombat', 'Vole', 'Urial', 'Tapir'].map((name) => sampleEntry({ name })))
    await tailer.caughtUp(6)
    expect(home.losses).toHaveLength(2)
    const names = ['wombat', 'vole', 'urial', 'tapir', 'xerus', 'quagga', 'zebra']
    expect(await Promise.all(names.map((name) => home.found(name)))).toEqual([1, 1, 1, 1, 1, 0, 0])
  })
})
