import { describe, expect, test, vi } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { sampleEntry } from '../support/entries.ts'
import type { TestPostgres } from '../support/postgres.ts'
import { openPlain, type PostgresHome } from './postgres-database.ts'

/** The behaviour of a store whose database is busy, read-only or unreachable. */
export function outageContract(server: () => TestPostgres, openHome: () => Promise<PostgresHome>): void {
  describe('an unusable PostgreSQL', () => {
    const put = (store: Store) => store.write((writer) => writer.put(sampleEntry()))

    test.each(['lock_timeout=50', 'statement_timeout=400', 'query_timeout=400'])(
      'that is blocked for the time-out of a statement is unavailable, and then works: %s',
      async (limit) => {
        await using home = await openHome()
        await using store = await openPlain(`${home.url}&${limit}`)
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
        // Other realms have their own locks.
        expect(await store.credentials.remove('nobody', 'nothing')).toBe(false)
        leave.resolve()
        await holding
        expect((await put(store)).revision).toBe(2)
      },
    )

    test('that is read-only can be read, and says so', async () => {
      const url = await server().createDatabase()
      await (await openPlain(url))[Symbol.asyncDispose]()
      const name = new URL(url).pathname.slice(1)
      await server().query(url, `alter database ${name} set default_transaction_read_only = on`)
      await using store = await openPlain(url)
      expect(await store.read.revision()).toBe(0)
      const readOnly = { code: 'unavailable', details: { hint: expect.stringContaining('primary') } }
      await expect(put(store)).rejects.toMatchObject(readOnly)
    })

    test('that does not answer fails the start with a message without the password', async () => {
      const nowhere = openPlain('postgresql://ada:hush-hush@127.0.0.1:1/registry')
      await expect(nowhere).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(
          /^PostgreSQL at 127\.0\.0\.1:1\/registry cannot be used: .*ECONNREFUSED/,
        ),
      })
      const url = (await server().createDatabase()).replace(/test_\d+/, 'missing')
      const missing = openPostgresStore(url, { clock: Date.now, onError: () => {} })
      await expect(missing).rejects.toMatchObject({
        code: 'not_configured',
        message: expect.stringContaining('database "missing" does not exist'),
      })
    })

    test('that has no TLS, where the address wants it, fails the start with the reason and what to do', async () => {
      const url = `${await server().createDatabase()}&sslmode=verify-full`
      await expect(openPlain(url)).rejects.toMatchObject({
        code: 'not_configured',
        message: expect.stringMatching(/^PostgreSQL at .* cannot be used: The server does not support SSL/),
        details: { hint: expect.stringContaining('sslmode') },
      })
    })

    test('in which the user may make no tables fails the start with the reason and what to do', async () => {
      const url = await server().createDatabase()
      await server().query(url, 'create user reader')
      await expect(openPlain(url.replace('user=postgres', 'user=reader'))).rejects.toMatchObject({
        code: 'not_configured',
        message: expect.stringMatching(
          /^PostgreSQL at .* cannot be used: permission denied for schema public/,
        ),
        details: { hint: expect.stringContaining('own the database') },
      })
    })

    test('with half of a restored dump fails the start with what to do', async () => {
      const url = await server().createDatabase()
      await server().query(url, 'create table entry (id text)')
      await expect(openPlain(url)).rejects.toMatchObject({
        code: 'not_configured',
        message: expect.stringContaining('relation "entry" already exists'),
        details: { hint: expect.stringContaining('empty database') },
      })
    })

    test('that stops during an idle transaction fails that transaction alone', async () => {
      await using home = await openHome()
      const entry = sampleEntry()
      const amid = home.store.write(async (writer) => {
        await writer.put(entry)
        await server().stop()
        await server().start()
        await writer.put(entry)
      })
      await expect(amid).rejects.toMatchObject({ code: 'unavailable' })
      expect((await put(home.store)).revision).toBe(1)
    })

    test('that stops is unavailable until it is back, and then nothing is lost and every commit is seen', async () => {
      await using home = await openHome()
      const { store } = home
      const waking = store.wake(new AbortController().signal)[Symbol.asyncIterator]()
      const entry = sampleEntry()
      await store.write((writer) => writer.put(entry))
      expect(await store.read.entry({ id: entry.id })).toBeDefined()
      await waking.next()
      const [begun, broken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const between = store.write(async (writer) => {
        await writer.put(sampleEntry())
        begun.resolve()
        await broken.promise
      })
      await begun.promise
      await server().stop()
      const gone = { code: 'unavailable', details: { retry_after_s: 1 } }
      // Its connection breaks while no query runs.
      await expect(store.changes(0, 1)).rejects.toMatchObject(gone)
      broken.resolve()
      await expect(between).rejects.toMatchObject(gone)
      const failing = [
        put(store),
        store.changes(0, 1),
        store.settings.get('x'),
        store.tasks.get('x'),
        store.embeddings.keep('m', new Map([['a', Float32Array.of(1)]])),
        store.identity.endKey(
          'x',
          { kind: 'key', issuer: '', name: 'x', before: 0, expires_at: 1, reason: null },
          0,
        ),
      ]
      await Promise.all(failing.map((work) => expect(work).rejects.toMatchObject(gone)))
      // Cached entries are valid for at most two seconds without an answer.
      await vi.waitFor(() => expect(store.read.entry({ id: entry.id })).rejects.toMatchObject(gone), {
        timeout: 5000,
        interval: 100,
      })
      await server().start()
      expect((await put(store)).revision).toBe(2)
      expect(await store.read.entry({ id: entry.id })).toEqual({ ...entry, revision: 1 })
      await using other = await home.another()
      const { revision } = await put(other)
      do await waking.next()
      while ((await store.read.revision()) < revision)
    })
  })
}
