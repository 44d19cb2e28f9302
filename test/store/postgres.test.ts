import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store, StoredEntry } from '../../src/store/store.ts'
import { sampleEntry } from '../support/entries.ts'
import { postgresFolder, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { run } from '../support/processes.ts'
import { type StoreHome, storeContract, storeTime } from './contract.ts'
import { credentialContract } from './credential-contract.ts'
import { sessionContract } from './session-contract.ts'
import { taskContract } from './task-contract.ts'

/** Every table empty and every counter at 0. */
const emptied = `
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%' loop
      execute format('delete from %I', name);
    end loop;
    insert into counter values ('revision', 0), ('audit', 0);
  end $$`

const fixture = resolve(import.meta.dirname, 'elsewhere.ts')

describe.skipIf(!postgresFolder)('PostgreSQL', () => {
  let postgres: TestPostgres
  let migrated: string
  /** Databases that a test is done with, empty again. */
  const idle: string[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
    migrated = await postgres.createDatabase()
    await using _ = await open(migrated)
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())

  const open = (url: string, failed: (fault: unknown) => void = () => {}): Promise<Store> =>
    openPostgresStore(url, { clock: () => storeTime, failed, start_ms: 0 })

  async function openHome(): Promise<StoreHome & { readonly url: string }> {
    const stack = new AsyncDisposableStack()
    const url = idle.pop() ?? (await postgres.createDatabase(migrated))
    stack.defer(async () => {
      await postgres.query(url, emptied)
      idle.push(url)
    })
    const another = async () => stack.use(await open(url))
    return {
      url,
      store: await another(),
      another,
      sees_others: false,
      told: (store, revision) =>
        vi.waitFor(async () => expect(await store.read.revision()).toBeGreaterThanOrEqual(revision), {
          timeout: 2000,
          interval: 1,
        }),
      async elsewhere(prefix, count) {
        const { code, stdout, stderr } = await run(process.execPath, [fixture, url, prefix, String(count)])
          .ended
        if (code !== 0) throw new Error(stderr)
        return stdout.trim().split('\n').map(Number)
      },
      async spoil(id, document) {
        await postgres.query(url, 'update entry set document = $1 where id = $2', [document, id])
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  storeContract('PostgreSQL', openHome)
  credentialContract('PostgreSQL', openHome)
  taskContract('PostgreSQL', openHome)
  sessionContract('PostgreSQL', openHome)

  test('six writers on connections of their own leave no gap and double nothing, and a tail sees all in order', async () => {
    await using home = await openHome()
    const stores = [home.store, ...(await Promise.all(Array.from({ length: 5 }, home.another)))]
    const seen: number[] = []
    const stop = new AbortController()
    const tail = (async () => {
      for await (const _ of home.store.wake(stop.signal)) {
        const news = await home.store.changes(seen.at(-1) ?? 0, 1000)
        seen.push(...news.map((change) => change.revision))
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

  test('nothing of what others commit is missed while connections are ended, and all of it is heard within two seconds', async () => {
    await using home = await openHome()
    const other = await home.another()
    const entry = sampleEntry()
    await home.store.write((writer) => writer.put(entry))
    const stop = new AbortController()
    const waking = home.store.wake(stop.signal)[Symbol.asyncIterator]()
    await waking.next()
    for (const name of ['One', 'Two', 'Three']) {
      await home.store.read.entry({ id: entry.id })
      await postgres.query(
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

  /** A commit of another gateway, made by hand, which notifies nobody. */
  const commitSilently = (url: string, entry: StoredEntry) =>
    postgres.query(
      url,
      `with counted as (update counter set value = $3 where name = 'revision'),
        logged as (insert into change (revision, entry_id, kind, at) values ($3, $1, 'put', ''))
       insert into entry (id, package_name, skeleton, revision, document) values ($1, $2, '', $3, $4)
       on conflict (id) do update set document = excluded.document`,
      [entry.id, entry.package_name, entry.revision, JSON.stringify(entry)],
    )

  test('a notification that is lost costs a second and no more', async () => {
    await using home = await openHome()
    const waking = home.store.wake(new AbortController().signal)[Symbol.asyncIterator]()
    await waking.next()
    // Once this is heard, the ear is there.
    await (await home.another()).write((writer) => writer.put(sampleEntry()))
    await waking.next()
    const woken = waking.next()
    const entry = sampleEntry({ revision: 2 })
    await commitSilently(home.url, entry)
    const committed = performance.now()
    await woken
    expect(performance.now() - committed).toBeLessThan(2000)
    expect(await home.store.read.entry({ id: entry.id })).toEqual(entry)
  })

  test('whoever has seen a change in the log reads no entry from before it', async () => {
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

  test('a database that was restored to an earlier day is read as it is now', async () => {
    await using home = await openHome()
    const { store } = home
    const entry = sampleEntry({ name: 'Then' })
    await store.write((writer) => writer.put(entry))
    await store.write((writer) => writer.put({ ...entry, name: 'Now' }))
    expect((await store.read.entry({ id: entry.id }))?.name).toBe('Now')
    const document = JSON.stringify({ ...entry, revision: 1 })
    await postgres.query(
      home.url,
      `with counted as (update counter set value = 1 where name = 'revision'),
        logged as (delete from change where revision = 2)
       update entry set document = $1`,
      [document],
    )
    const restored = async () => expect((await store.read.entry({ id: entry.id }))?.name).toBe('Then')
    await vi.waitFor(restored, { timeout: 2000, interval: 10 })
    expect(await store.read.revision()).toBe(1)
  })

  test('a commit is notified, not waited for until somebody asks', async () => {
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
    // By asking alone each of them takes a second.
    expect(performance.now() - started).toBeLessThan(4500)
  })

  test('what was read is read again from memory, as the same object, until it changes', async () => {
    await using home = await openHome()
    const [kept, changed] = [sampleEntry(), sampleEntry()]
    await home.store.write(async (writer) => {
      await writer.put(kept)
      await writer.put(changed)
    })
    const ids = [kept.id, changed.id]
    const [before] = await home.store.read.entries(ids)
    // Nobody could tell a query from memory, were the document still the same.
    await home.spoil(kept.id, '{}')
    expect((await home.store.read.entries(ids))[0]).toBe(before)
    await home.store.write((writer) => writer.put({ ...changed, name: 'Changed' }))
    const [still, now] = await home.store.read.entries(ids)
    expect(still).toBe(before)
    expect(now?.name).toBe('Changed')
    expect(await home.store.read.entry({ package_name: kept.package_name })).toBe(before)
  })

  test('four processes may open a fresh database at once', async () => {
    const url = await postgres.createDatabase()
    const peers = ['a', 'b', 'c', 'd'].map((prefix) => run(process.execPath, [fixture, url, prefix, '2']))
    const ends = await Promise.all(peers.map((peer) => peer.ended))
    expect(ends.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(['0 ', '0 ', '0 ', '0 '])
    await using store = await open(url)
    expect(await store.read.revision()).toBe(8)
  })

  test('of two who publish one name at once the second finds the first', async () => {
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

  describe('that cannot be used', () => {
    const put = (store: Store) => store.write((writer) => writer.put(sampleEntry()))

    test('for a lock that somebody holds too long, is unavailable, and then works', async () => {
      await using home = await openHome()
      await using store = await open(`${home.url}&lock_timeout=50`)
      const entered = Promise.withResolvers<void>()
      const leave = Promise.withResolvers<void>()
      const holding = home.store.write(async (writer) => {
        await writer.put(sampleEntry())
        entered.resolve()
        await leave.promise
      })
      await entered.promise
      const busy = { code: 'unavailable', details: { retry_after_s: 1 } }
      await expect(put(store)).rejects.toMatchObject(busy)
      // Other realms have locks of their own.
      expect(await store.credentials.remove('nobody', 'nothing')).toBe(false)
      leave.resolve()
      await holding
      expect((await put(store)).revision).toBe(2)
    })

    test('for writing alone, can be read and says so', async () => {
      const url = await postgres.createDatabase(migrated)
      const name = new URL(url).pathname.slice(1)
      await postgres.query(url, `alter database ${name} set default_transaction_read_only = on`)
      await using store = await open(url)
      expect(await store.read.revision()).toBe(0)
      const readOnly = { code: 'unavailable', details: { hint: expect.stringContaining('primary') } }
      await expect(put(store)).rejects.toMatchObject(readOnly)
    })

    test('because it is not there, is a failure of the start in words, without the password', async () => {
      const nowhere = open('postgresql://ada:hush-hush@127.0.0.1:1/registry')
      await expect(nowhere).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(
          /^PostgreSQL at 127\.0\.0\.1:1\/registry cannot be used: .*ECONNREFUSED/,
        ),
      })
      const url = (await postgres.createDatabase()).replace(/test_\d+/, 'missing')
      const missing = openPostgresStore(url, { clock: Date.now, failed: () => {} })
      await expect(missing).rejects.toMatchObject({
        code: 'not_configured',
        message: expect.stringContaining('database "missing" does not exist'),
      })
    })

    test('because it stopped, is unavailable until it is back, and then nothing was lost and all is heard', async () => {
      await using home = await openHome()
      const { store } = home
      const waking = store.wake(new AbortController().signal)[Symbol.asyncIterator]()
      const entry = sampleEntry()
      await store.write((writer) => writer.put(entry))
      expect(await store.read.entry({ id: entry.id })).toBeDefined()
      await waking.next()
      await postgres.stop()
      const gone = { code: 'unavailable', details: { retry_after_s: 1 } }
      const failing = [
        put(store),
        store.changes(0, 1),
        store.notes.get('x'),
        store.tasks.get('x'),
        store.embeddings.keep('m', new Map([['a', Float32Array.of(1)]])),
        store.identity.endKey(
          'x',
          { kind: 'key', issuer: '', name: 'x', before: 0, expires_at: 1, reason: null },
          0,
        ),
      ]
      await Promise.all(failing.map((work) => expect(work).rejects.toMatchObject(gone)))
      // What was read is not vouched for any longer than two seconds.
      await vi.waitFor(() => expect(store.read.entry({ id: entry.id })).rejects.toMatchObject(gone), {
        timeout: 5000,
        interval: 100,
      })
      await postgres.start()
      expect((await put(store)).revision).toBe(2)
      expect(await store.read.entry({ id: entry.id })).toEqual({ ...entry, revision: 1 })
      await using other = await home.another()
      const { revision } = await put(other)
      do await waking.next()
      while ((await store.read.revision()) < revision)
    })
  })
})
