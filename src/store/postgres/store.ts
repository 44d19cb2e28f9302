import { EventEmitter } from 'node:events'
import { CompiledQuery } from 'kysely'
import { linkSignals } from '../../common/abort.ts'
import { retryFor } from '../../common/retry.ts'
import type { Snapshot } from '../dump-restore.ts'
import { createEntryCache } from '../entries/entry-cache.ts'
import { createReader } from '../entries/reader.ts'
import { migrate } from '../migrate.ts'
import { observeWrites } from '../sql/observe-writes.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { CounterTable, Database, EntryTable } from '../sql/tables.ts'
import type { Realm, Transact } from '../sql/transaction.ts'
import type { Store } from '../store.ts'
import type { StoreObserver } from '../store-health.ts'
import { wakeOn } from '../wake.ts'
import { createPool, over, Sockets } from './connect.ts'
import { selectCounters, toCounters } from './counters.ts'
import { isUnreachable, refusalOf, retries, storeFailure } from './faults.ts'
import { Invalidations } from './invalidations.ts'
import { openListener } from './listener.ts'
import { databaseAddress } from './redact-url.ts'
import { askPostgres, explained } from './server-info.ts'
import { createTransact } from './transact.ts'

/** Connections of one process; the listener has one more. */
const readers = 10
const writers = 5
const readLimits = { statement: 10_000, lock: 5000 }
const writeLimits = { statement: 15_000, lock: 5000 }
/** No time-outs: a migration, or the wait for another process that migrates, may take any time. */
const noLimits = { statement: 0, lock: 0 }
/** Maximum time for which a start waits for a server that does not answer: the server may be starting too. */
const startMilliseconds = 15_000

export interface PostgresOptions {
  /** Milliseconds since the epoch; dates the changes. */
  readonly clock: () => number
  /** Called for broken connections; their queries fail by themselves. */
  readonly onError: (fault: unknown) => void
  /** Maximum time for which a start waits for a server that does not answer; 15 seconds when absent. */
  readonly start_ms?: number
  /** Ends the opening, even while the server answers no more. */
  readonly signal?: AbortSignal | undefined
  readonly observer?: StoreObserver
  /** Characters of entries that are kept in memory. */
  readonly cached_characters?: number | undefined
}

/**
 * Opens the store in the database at `url` and brings its schema up to date. Throws Failure `unavailable` if no
 * server answers within that time, `not_configured` if the server cannot be used.
 */
export async function openPostgresStore(url: string, options: PostgresOptions): Promise<Store> {
  const { clock, onError, start_ms = startMilliseconds, observer = {} } = options
  const sockets = new Sockets()
  using opening = linkSignals(...(options.signal ? [options.signal] : []))
  opening.signal.addEventListener('abort', sockets.cut)
  let isWaiting = false
  const hello = () =>
    askPostgres(url).catch((fault) => {
      if (start_ms > 0 && isUnreachable(fault) && !isWaiting) onError(storeFailure(fault))
      isWaiting = true
      throw fault
    })
  await retryFor(hello, isUnreachable, { ...retries, within_ms: start_ms })
  await using migrating = over(createPool(url, 1, noLimits, onError, { sockets }))
  const migrations = await migrate(migrating).catch((fault) => {
    throw explained(fault, databaseAddress(url))
  })
  if (migrations.length > 0) observer.onMigrate?.(migrations)

  await using stack = new AsyncDisposableStack()
  const reader = stack.use(over(createPool(url, readers, readLimits, onError, { sockets })))
  const writing = createPool(url, writers, writeLimits, onError, { pipeline: true, sockets })
  // Kysely would end the pool only if it had asked it for a connection itself.
  stack.defer(() => writing.end())
  const writer = over(writing)
  const commits = new EventEmitter().setMaxListeners(0)
  const cache = createEntryCache(options.cached_characters)
  const { rows } = await reader.executeQuery<CounterTable>(CompiledQuery.raw(selectCounters))
  const invalidations = new Invalidations(reader, cache, commits, toCounters(rows))
  const onReplica = () => observer.onWrite?.('read_only')
  const { onAnswer, onClock } = observer
  stack.use(openListener({ url, sockets, invalidations, onError, onReplica, clock, onClock, onAnswer }))

  const execute = createTransact(writing, () => sockets.isCut)
  const observed = (realm: Realm, telling?: boolean) =>
    observeWrites(execute(realm, telling), observer, refusalOf)
  const transact = (realm: Realm): Transact => {
    const transactRealm = observed(realm)
    return async (work) => {
      const done = await transactRealm(work)
      if (realm === 'entries') invalidations.announceWritten(undefined)
      return done
    }
  }
  const commit = (realm: Realm): Transact => {
    const transactRealm = observed(realm, true)
    return async (work) => {
      let written: readonly EntryTable[] | undefined
      const done = await transactRealm(async (transaction, finish) => {
        const result = await work(transaction, (statements, rows) => {
          written = rows
          finish(statements, rows)
        })
        if (realm === 'identity') await countIdentity(transaction)
        return result
      })
      if (realm === 'entries') invalidations.announceWritten(written)
      if (realm === 'identity') invalidations.announce()
      return done
    }
  }
  const snapshot: Snapshot = (work) =>
    reader.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)
  const store = createSqlStore({
    reader,
    writer,
    transact,
    commit,
    snapshot,
    forgetDeleted: async () => {},
    // PostgreSQL reuses the space of deleted rows after this.
    vacuum: async () => void (await writer.executeQuery(CompiledQuery.raw('vacuum'))),
    clock,
  })
  const announced = (revision: number) => {
    invalidations.announceRevision(revision)
    return revision
  }
  const opened = stack.move()
  return {
    ...store,
    dumpRestore: {
      ...store.dumpRestore,
      async restore(contents, replace) {
        const rows = await store.dumpRestore.restore(contents, replace)
        await invalidations.ask()
        return rows
      },
    },
    liveness: {
      ...store.liveness,
      watch: async (watches) => announced(await store.liveness.watch(watches)),
      save: async (probes) => announced(await store.liveness.save(probes)),
    },
    async changes(...range) {
      const changes = await store.changes(...range)
      invalidations.announceRevision(changes.at(-1)?.revision ?? 0)
      return changes
    },
    read: createReader(reader, cache, invalidations),
    wake: (signal) => wakeOn(() => invalidations.version(), commits, signal),
    abandon: sockets.cut,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Commits of entries have a revision. All other commits that processes wait for increment this counter. */
async function countIdentity(db: Database): Promise<void> {
  await db
    .insertInto('counter')
    .values({ name: 'identity', value: 1 })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((row) => ({ value: row('counter.value', '+', 1) })),
    )
    .execute()
}
