import { EventEmitter } from 'node:events'
import { Kysely, sql } from 'kysely'
import { createEntryCache } from '../entries/entry-cache.ts'
import { createReader } from '../entries/reader.ts'
import { migrate } from '../migrate.ts'
import { observeWrites } from '../sql/observe-writes.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { EntryTable, Tables } from '../sql/tables.ts'
import type { Statement, Transact } from '../sql/transaction.ts'
import type { Store } from '../store.ts'
import { ReplacedStore, type StoreObserver } from '../store-health.ts'
import { wakeOn } from '../wake.ts'
import { watchDataVersion } from './data-version.ts'
import { sqliteDialect } from './dialect.ts'
import { refusalOf, retryWhileBusy, storeFailure } from './faults.ts'
import { checkInThread, endedUncleanly } from './integrity.ts'
import { openDatabase } from './open.ts'
import { snapshotOf } from './snapshot.ts'
import { createValidity } from './validity.ts'

/** The entries that a transaction wrote; undefined if these may be any. */
type Written = readonly EntryTable[] | undefined

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
  const dataVersion = watchDataVersion(writing, path)
  const commits = new EventEmitter().setMaxListeners(0)
  const cache = createEntryCache()
  const validity = createValidity(cache, dataVersion.read)

  /** Calls `committed` in one step with the commit, so that no reader comes between them. */
  const createTransact = (committed: (written: Written) => void): Transact => {
    const execute: Transact = (work) =>
      writer.connection().execute(async (db) => {
        const last: Statement[] = []
        let written: Written
        if (dataVersion.isRemoved()) throw new ReplacedStore()
        await sql`begin immediate`.execute(db)
        try {
          const result = await work(db, (statements, rows) => {
            last.push(...statements)
            written = rows
          })
          for (const statement of last) await statement.execute()
          writing.exec('commit')
          committed(written)
          return result
        } finally {
          // On a full disk SQLite rolls back by itself; a second rollback would hide that error behind another.
          if (writing.isTransaction) writing.exec('rollback')
        }
      })
    const observed = observeWrites(execute, observer, refusalOf)
    return async (work) => {
      try {
        return await observed(work)
      } catch (thrown) {
        throw storeFailure(thrown)
      }
    }
  }
  /** An idle gateway too says that its files were replaced. */
  function versionOfWake(): number {
    if (dataVersion.isRemoved()) observer.onWrite?.('store_replaced')
    return validity.version()
  }

  const check = isUnclean ? checkInThread(path, check_worker, onCheck) : undefined
  // SQLite has one writer at a time, whatever the realm.
  const store = createSqlStore({
    reader,
    writer,
    transact: (realm) => createTransact(() => validity.committed(realm === 'entries' ? undefined : [])),
    commit: (realm) =>
      createTransact((written) => {
        validity.committed(realm === 'entries' ? written : [])
        commits.emit('commit')
      }),
    snapshot: snapshotOf(reader),
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
    wake: (signal) => wakeOn(versionOfWake, commits, signal),
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
