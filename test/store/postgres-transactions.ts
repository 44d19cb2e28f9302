import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPool } from '../../src/store/postgres/connect.ts'
import { createTransact } from '../../src/store/postgres/transact.ts'
import type { Store } from '../../src/store/store.ts'
import { sampleEntry } from '../support/entries.ts'
import type { TestPostgres } from '../support/postgres.ts'
import { openPlain, type PostgresHome } from './postgres-database.ts'

const limits = { statement: 0, lock: 0 }
const soon = { timeout: 10_000, interval: 10 }

/** What transactions of several processes are to each other, and to those who follow the log. */
export function transactionContract(server: () => TestPostgres, openHome: () => Promise<PostgresHome>): void {
  describe('transactions on PostgreSQL', () => {
    /** Statements as they are sent; each is answered when the test calls the next of `answers`. */
    function slowPool() {
      const sent: string[] = []
      const answers: (() => void)[] = []
      const query = async (text: string) => {
        sent.push(text.split(' ').slice(0, 2).join(' '))
        await new Promise<void>((resolve) => answers.push(resolve))
        return { command: 'SELECT', rows: [], rowCount: 0 }
      }
      const connect = async () => ({ query, release() {} })
      return { sent, answers, pool: { connect, end: async () => {}, options: {} } }
    }
    const turn = () => new Promise((resolve) => setImmediate(resolve))

    test('send the lock with the first reads, and the last statements with the commit', async () => {
      const { sent, answers, pool } = slowPool()
      const transact = createTransact(pool as never)('entries')
      const done = transact(async (db, finish) => {
        await Promise.all([
          db.selectFrom('entry').select('id').execute(),
          db.selectFrom('note').select('name').execute(),
        ])
        const remove = (table: 'lease' | 'note') => db.deleteFrom(table)
        finish([remove('lease'), remove('note')], [])
      })
      await turn()
      expect(sent).toEqual(['begin; select', 'select "id"', 'select "name"'])
      for (const answer of answers.splice(0)) answer()
      await turn()
      expect(sent.slice(3)).toEqual(['delete from', 'delete from', 'commit'])
      for (const answer of answers.splice(0)) answer()
      await done
    })

    test('are tried again while the server is away, but not once nobody waits for it', async () => {
      let attempts = 0
      let isGivenUp = false
      const connect = async () => {
        attempts++
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      }
      const transact = createTransact({ connect, end: async () => {}, options: {} } as never, () => isGivenUp)
      await expect(transact('tasks')(async () => {})).rejects.toThrow()
      expect(attempts).toBeGreaterThan(1)
      attempts = 0
      isGivenUp = true
      await expect(transact('tasks')(async () => {})).rejects.toThrow()
      expect(attempts).toBe(1)
    })

    async function openTransact() {
      const pool = createPool(await server().createDatabase(), 1, limits, () => {}, { pipeline: true })
      onTestFinished(() => pool.end())
      return createTransact(pool)('tasks')
    }

    test('fail if one of their statements has failed, whatever their work makes of it', async () => {
      const transact = await openTransact()
      const ignoring = transact(async (db) => {
        await sql`select 1 / 0`.execute(db).catch(() => {})
      })
      await expect(ignoring).rejects.toThrow('A statement of the transaction has failed.')
      expect(await transact(async () => 'the next one')).toBe('the next one')
    })

    test('fail if one of their last statements fails, and leave nothing', async () => {
      const transact = await openTransact()
      await transact(async (db) => void (await sql`create table done (id int primary key)`.execute(db)))
      const add = (id: number) => sql`insert into done values (${sql.lit(id)})`
      const twice = transact(async (db, finish) => {
        const statement = (id: number) => ({
          compile: () => add(id).compile(db),
          execute: () => add(id).execute(db),
        })
        finish([statement(1), statement(2), statement(1)], [])
      })
      await expect(twice).rejects.toMatchObject({ code: '23505' })
      const { rows } = await transact((db) => sql`select * from done`.execute(db))
      expect(rows).toEqual([])
    })

    test('take no statement after their end', async () => {
      const transact = await openTransact()
      const late = await transact(async (db) => ({ select: () => sql`select 1`.execute(db) }))
      await expect(late.select()).rejects.toThrow('The transaction has ended.')
    })

    const audit = { actor: null, action: 'test' }
    const change = (store: Store, decided = Promise.resolve()) =>
      store.change(async (reads) => {
        const entry = sampleEntry()
        await reads.entry({ id: entry.id })
        await decided
        return { before: undefined, entry, audit }
      })

    /** Follows the log as an index does, until it has the revision `last`: what each read returned. */
    async function follow(store: Store, last: number): Promise<number[]> {
      const seen: number[] = []
      const stop = new AbortController()
      for await (const _ of store.wake(stop.signal)) {
        for (;;) {
          const changes = await store.changes(seen.at(-1) ?? 0, 7)
          seen.push(...changes.map(({ revision }) => revision))
          if (changes.length < 7) break
        }
        if ((seen.at(-1) ?? 0) >= last) stop.abort()
      }
      return seen
    }

    const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

    test('of two nodes are numbered as they become visible: a follower misses no change', async () => {
      await using home = await openHome()
      await using other = await openPlain(home.url)
      await using reader = await openPlain(home.url)
      const watched = sampleEntry()
      await home.store.change(async () => ({ before: undefined, entry: watched, audit }))
      const following = follow(reader, 141)
      const writing = numbers(20).flatMap((round) => {
        const node = round % 2 ? home.store : other
        return [
          ...numbers(5).map(() => change(node)),
          node.write(async (writer) => {
            await writer.put(sampleEntry())
            await writer.put(sampleEntry())
          }),
        ]
      })
      await Promise.all(writing)
      expect(await following).toEqual(numbers(141))
    })

    test('that are held open hold later ones of every kind, and a follower sees neither', async () => {
      await using home = await openHome()
      await using other = await openPlain(home.url)
      await using reader = await openPlain(home.url)
      const shown = sampleEntry()
      const place = 'https://example.com/'
      await home.store.change(async () => ({ before: undefined, entry: shown, audit }))
      await home.store.liveness.watch([{ entry_id: shown.id, place, active: true }])
      const [row] = await home.store.liveness.due('9999', '9999', 1)
      if (!row) throw new Error('The entry is not watched.')
      const decided = Promise.withResolvers<void>()
      const held = change(home.store, decided.promise)
      const later = [
        change(other).then(({ revision }) => revision),
        other.liveness.save([{ ...row, shown: { ...row.shown, status: 'alive' } }]),
      ]
      const following = follow(reader, 4)
      const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      await vi.waitFor(async () => expect(await server().query(home.url, waiting)).toHaveLength(2), soon)
      expect(await reader.changes(0, 10)).toHaveLength(1)
      decided.resolve()
      expect((await held).revision).toBe(2)
      expect((await Promise.all(later)).toSorted()).toEqual([3, 4])
      expect(await following).toEqual(numbers(4))
    })
  })
}
