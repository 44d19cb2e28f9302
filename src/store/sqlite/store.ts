import { EventEmitter } from 'node:events'
import { Kysely, sql } from 'kysely'
import type { Snapshot } from '../dump-restore.ts'
import { createEntryCache } from '../entries/entry-cache.ts'
import { createReader } from '../entries/reader.ts'
import { migrate } from '../migrate.ts'
import { observeWrites } from '../sql/observe-writes.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { Tables } from '../sql/tables.ts'
import type { Statement, Transact } from '../sql/transaction.ts'
import type { Store, StoreObserver } from '../store.ts'
import { wakeOn } from '../wake.ts'
import { watchDataVersion } from './data-version.ts'
import { sqliteDialect } from './dialect.ts'
import { refusalOf, retryWhileBusy, storeFailure } from './faults.ts'
import { checkInThread, endedUncleanly } from './integrity.ts'
import { openDatabase } from './open.ts'
import { createValidity } from './validity.ts'

/** Opens the embedded store at `path`; `clock` in milliseconds since the epoch dates the changes. */
export async function openSqliteStore(
  path: string,
  clock: () => number = Date.now,
  observer: StoreObserver = {},
): Promise<Store> {
  const { onCheck, check_worker } = observer
  const isUnclean = onCheck && check_worker && endedUncleanly(path)
  // Of two processes that turn WAL on in a fresh file, one gets SQLITE_BUSY at once, without the busy time-out.
  const writing = await retryWhileBusy(async () => openDatabase(path))
  const writer = new Kysely<Tables>({ dialect: sqliteDialect(writing) })
  // From here on we wait for other writers ourselves. A migration is atomic, so it may be repeated.
  writing.exec('pragma busy_timeout = 0')
  const migrations = await retryWhileBusy(() => migrate(writer))
  if (migrations.length > 0) observer.onMigrate?.(migrations)
  const reading = openDatabase(path)
  const reader = new Kysely<Tables>({ dialect: sqliteDialect(reading) })
  const dataVersion = watchDataVersion(reading, path)
  const commits = new EventEmitter().setMaxListeners(0)
  const cache = createEntryCache()

  const execute: Transact = (work) =>
    writer.transaction().execute(async (transaction) => {
      const last: Statement[] = []
      const result = await work(transaction, (statements) => last.push(...statements))
      for (const statement of last) await statement.execute()
      return result
    })
  const observed = observeWrites(execute, observer, refusalOf)
  const transact: Transact = async (work) => {
    try {
      return await observed(work)
    } catch (thrown) {
      throw storeFailure(thrown)
    }
  }
  const snapshot: Snapshot = (work) =>
    reader.connection().execute(async (db) => {
      await sql`begin`.execute(db)
      try {
        return await work(db)
      } finally {
        await sql`rollback`.execute(db)
      }
    })
  const commit: Transact = async (work) => {
    const done = await transact(work)
    commits.emit('commit')
    return done
  }

  const check = isUnclean ? checkInThread(path, check_worker, onCheck) : undefined
  const validity = createValidity(cache, dataVersion.read, commits)
  // SQLite has one writer at a time, whatever the realm.
  const store = createSqlStore({
    reader,
    writer,
    transact: () => transact,
    commit: () => commit,
    snapshot,
    async vacuum() {
      await retryWhileBusy(async () => writing.exec('vacuum; pragma wal_checkpoint(truncate)'))
    },
    // Pages are overwritten when a row is deleted; their earlier content is in the write-ahead log.
    forgetDeleted: async () => writing.exec('pragma wal_checkpoint(truncate)'),
    clock,
  })
  return {
    ...store,
    async changes(...range) {
      const changes = await store.changes(...range)
      // A caller that knows of a change must not read an older entry.
      await validity.ask()
      return changes
    },
    read: createReader(reader, cache, validity),
    // A caller woken by a commit must not read data from before it.
    wake: (signal) => wakeOn(validity.version, commits, signal),
    async [Symbol.asyncDispose]() {
      await check?.[Symbol.asyncDispose]()
      await writer.destroy()
      await reader.destroy()
      dataVersion[Symbol.dispose]()
      reading.close()
      writing.close()
    },
  }
}
