import { queryObjects } from 'node:v8'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { expect, test, vi } from 'vitest'
import type { Invalidations } from '../../src/store/postgres/invalidations.ts'
import { channel, openListener } from '../../src/store/postgres/listener.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'
import type { TestPostgres } from '../support/postgres.ts'
import type { PostgresHome } from './postgres-database.ts'

/** When processes see the commits of each other. */
export function invalidationContract(
  server: () => TestPostgres,
  openHome: () => Promise<PostgresHome>,
): void {
  test('of two concurrent publications of one name the second finds the first', async () => {
    await using home = await openHome()
    const stores = [home.store, await home.another()]
    const outcomes = await Promise.all(
      stores.map(async (store) => {
        const { result } = await store.write(async (writer) => {
          if (await writer.entry({ package_name: 'com.example.one' })) return 'taken'
          await writer.put(sampleEntry({ package_name: 'com.example.one' }))
          return 'mine'
        })
        return result
      }),
    )
    expect(outcomes.toSorted()).toEqual(['mine', 'taken'])
  })

  test('six writers on separate connections leave no gap and duplicate nothing, and a reader of the log sees all in order', async () => {
    await using home = await openHome()
    const stores = [home.store, ...(await Promise.all(Array.from({ length: 5 }, home.another)))]
    const seen: number[] = []
    const stop = new AbortController()
    const tail = (async () => {
      for await (const _ of home.store.wake(stop.signal)) {
        const changes = await home.store.changes(seen.at(-1) ?? 0, 1000)
        seen.push(...changes.map((change) => change.revision))
      }
    })()
    const written = await Promise.all(
      stores.map(async (store) => {
        const own: number[] = []
        for (let round = 0; round < 15; round++) {
          const { revision } = await store.write(async (writer) => {
            await writer.put(sampleEntry())
            await writer.put(sampleEntry())
          })
          own.push(revision - 1, revision)
        }
        return own
      }),
    )
    const all = Array.from({ length: 180 }, (_, index) => index + 1)
    expect(written.flat().toSorted((a, b) => a - b)).toEqual(all)
    await vi.waitFor(() => expect(seen.at(-1)).toBe(180), { timeout: 2000, interval: 5 })
    stop.abort()
    await tail
    expect(seen).toEqual(all)
  })

  test('every commit of others is seen within two seconds while connections are terminated', async () => {
    await using home = await openHome()
    const other = await home.another()
    const entry = sampleEntry()
    await home.store.write((writer) => writer.put(entry))
    const stop = new AbortController()
    const waking = home.store.wake(stop.signal)[Symbol.asyncIterator]()
    await waking.next()
    for (const name of ['One', 'Two', 'Three']) {
      await home.store.read.entry({ id: entry.id })
      await server().query(
        home.url,
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      )
      const { revision } = await other.write((writer) => writer.put({ ...entry, name }))
      const committed = performance.now()
      do await waking.next()
      while ((await home.store.changes(revision - 1, 1)).length === 0)
      expect((await home.store.read.entry({ id: entry.id }))?.name).toBe(name)
      expect(performance.now() - committed).toBeLessThan(2000)
    }
    stop.abort()
  })

  /** A commit of another gateway, written by SQL, without a notification. */
  const commitSilently = (url: string, entry: StoredEntry) =>
    server().query(
      url,
      `with counted as (update counter set value = $3 where name = 'revision'),
        logged as (insert into change (revision, entry_id, kind, at) values ($3, $1, 'put', ''))
       insert into entry (id, package_name, skeleton, revision, document) values ($1, $2, '', $3, $4)
       on conflict (id) do update set document = excluded.document`,
      [entry.id, entry.package_name, entry.revision, JSON.stringify(entry)],
    )

  test('a lost notification costs one second at most', async () => {
    await using home = await openHome()
    const waking = home.store.wake(new AbortController().signal)[Symbol.asyncIterator]()
    await waking.next()
    // After this is seen, the listener is connected.
    await (await home.another()).write((writer) => writer.put(sampleEntry()))
    await waking.next()
    const woken = waking.next()
    const entry = sampleEntry({ revision: 2 })
    await commitSilently(home.url, entry)
    const committed = performance.now()
    await woken
    expect(performance.now() - committed).toBeLessThan(2000)
    expect(await home.store.read.entry({ id: entry.id })).toEqual(entry)
    // The same holds for revocations, which take no revision.
    await server().query(home.url, `insert into counter values ('identity', 1)`)
    expect((await waking.next()).done).toBe(false)
  })

  test('latest() sees every commit, notified or not', async () => {
    await using home = await openHome()
    const { read } = home.store
    const entry = sampleEntry()
    await home.store.write((writer) => writer.put(entry))
    for (let revision = 2; revision < 12; revision++) {
      await read.entries([entry.id])
      await commitSilently(home.url, { ...entry, name: `Name ${revision}`, revision })
      const revisions = await Promise.all(Array.from({ length: 5 }, () => read.latest()))
      expect(revisions).toEqual(Array(5).fill(revision))
      expect((await read.entry({ id: entry.id }))?.name).toBe(`Name ${revision}`)
    }
  })

  test('a reader that has seen a change in the log never reads the entry from before it', async () => {
    await using home = await openHome()
    const { store } = home
    const entry = sampleEntry()
    await store.write((writer) => writer.put(entry))
    for (let revision = 2; revision < 12; revision++) {
      await store.read.entries([entry.id])
      await commitSilently(home.url, { ...entry, name: `Name ${revision}`, revision })
      const seen = await store.changes(revision - 1, 10)
      expect(seen.map((change) => change.revision)).toEqual([revision])
      const [read] = await store.read.entries([entry.id])
      expect(read?.name).toBe(`Name ${revision}`)
      expect(await store.read.revision()).toBe(revision)
    }
  })

  test.each([true, false])(
    'a database restored to an earlier state is read as it is now, cached before or not: %s',
    async (isRead) => {
      await using home = await openHome()
      const { store } = home
      const entry = sampleEntry({ name: 'Then' })
      await store.write((writer) => writer.put(entry))
      await store.write((writer) => writer.put({ ...entry, name: 'Now' }))
      if (isRead) expect((await store.read.entry({ id: entry.id }))?.name).toBe('Now')
      const document = JSON.stringify({ ...entry, revision: 1 })
      await server().query(
        home.url,
        `with counted as (update counter set value = 1 where name = 'revision'),
        logged as (delete from change where revision = 2)
       update entry set document = $1`,
        [document],
      )
      const restored = async () => expect((await store.read.entry({ id: entry.id }))?.name).toBe('Then')
      await vi.waitFor(restored, { timeout: 2000, interval: 10 })
      expect(await store.read.revision()).toBe(1)
    },
  )

  test('a server that comes back with another history is read as it is, although its revision is no lower', async () => {
    await using home = await openHome()
    const { store } = home
    const entry = sampleEntry({ name: 'Lost' })
    await store.write((writer) => writer.put(entry))
    expect((await store.read.entry({ id: entry.id }))?.name).toBe('Lost')
    const document = JSON.stringify({ ...entry, name: 'Replica', revision: 1 })
    await server().query(home.url, 'update entry set document = $1', [document])
    await server().query(
      home.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
    const replaced = async () => expect((await store.read.entry({ id: entry.id }))?.name).toBe('Replica')
    await vi.waitFor(replaced, { timeout: 5000, interval: 10 })
  })

  test('a commit is notified at once, without polling', async () => {
    await using home = await openHome()
    const other = await home.another()
    const waking = home.store.wake(new AbortController().signal)[Symbol.asyncIterator]()
    await waking.next()
    const started = performance.now()
    for (let round = 0; round < 6; round++) {
      const { revision } = await other.write((writer) => writer.put(sampleEntry()))
      do await waking.next()
      while ((await home.store.changes(revision - 1, 1)).length === 0)
    }
    // By polling alone each of them takes a second.
    expect(performance.now() - started).toBeLessThan(4500)
  })

  test('a notification tells the last revision, so that nobody has to ask for it', async () => {
    await using home = await openHome()
    const listening = new pg.Client({ connectionString: home.url })
    await using stack = new AsyncDisposableStack()
    stack.defer(() => listening.end())
    await listening.connect()
    const notified = new Promise((resolve) => listening.on('notification', ({ payload }) => resolve(payload)))
    await listening.query(`listen ${channel}`)
    const { revision } = await home.store.write(async (writer) => {
      await writer.put(sampleEntry())
      await writer.put(sampleEntry())
    })
    expect(await notified).toBe(String(revision))
  })

  test('a listener holds nothing of the notifications that it has answered', async () => {
    await using home = await openHome()
    const faults: unknown[] = []
    let reads = Promise.withResolvers<void>()
    const invalidations = {
      startRead: () => ({ at: 0, announced: 0 }),
      finishRead: () => reads.resolve(),
    } as unknown as Invalidations
    await using _ = openListener({
      clock: Date.now,
      url: home.url,
      invalidations,
      onError: (fault) => faults.push(fault),
    })
    await reads.promise
    await using client = new Kysely<unknown>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: home.url, max: 1 }) }),
    })
    const notify = async (times: number) => {
      for (let time = 0; time < times; time++) {
        reads = Promise.withResolvers()
        await sql.raw(`notify ${channel}`).execute(client)
        await reads.promise
      }
    }
    const promises = () => Number(queryObjects(Promise, { format: 'count' }))
    await notify(10)
    const before = promises()
    await notify(200)
    expect(promises() - before).toBeLessThan(100)
    expect(faults).toEqual([])
  })
}
