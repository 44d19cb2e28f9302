import { EventEmitter, once } from 'node:events'
import { Kysely, type Transaction } from 'kysely'
import { createCredentialStore } from '../credentials.ts'
import { createEmbeddings } from '../embeddings.ts'
import { createIdentityStore } from '../identity.ts'
import { createLeases } from '../leases.ts'
import { createLivenessStore } from '../liveness.ts'
import { migrate } from '../migrations/index.ts'
import { createNotes } from '../notes.ts'
import { createSessionStore } from '../playground.ts'
import type { Store } from '../store.ts'
import type { Tables } from '../tables.ts'
import { createTaskStore } from '../tasks.ts'
import { createWriter } from '../writer.ts'
import { sqliteDialect } from './dialect.ts'
import { storeFailure } from './faults.ts'
import { openDatabase } from './open.ts'
import { patiently } from './patience.ts'
import { createReader } from './reader.ts'

/** Opens the embedded store at `path`; `clock` in milliseconds since the epoch dates the changes. */
export async function openSqliteStore(path: string, clock: () => number = Date.now): Promise<Store> {
  const writing = openDatabase(path)
  const writer = new Kysely<Tables>({ dialect: sqliteDialect(writing) })
  // From here on we wait for other writers ourselves. A migration happens whole or not at all, so it may be tried again.
  writing.exec('pragma busy_timeout = 0')
  await patiently(() => migrate(writer))
  const reading = openDatabase(path)
  const reader = new Kysely<Tables>({ dialect: sqliteDialect(reading) })
  const version = reading.prepare('pragma data_version')
  const dataVersion = () => Number(version.get()?.data_version)
  const commits = new EventEmitter().setMaxListeners(0)

  async function transact<T>(work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    try {
      return await writer.transaction().execute(work)
    } catch (thrown) {
      throw storeFailure(thrown)
    }
  }

  /** One transaction; those who wait for a commit are woken. */
  async function commit<T>(work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    const done = await transact(work)
    commits.emit('commit')
    return done
  }

  const write: Store['write'] = (work) =>
    commit(async (transaction) => {
      const { writer: port, commit: number } = createWriter(transaction, clock)
      const result = await work(port)
      return { result, revision: await number() }
    })

  const changes: Store['changes'] = (after, limit) =>
    reader
      .selectFrom('change')
      .selectAll()
      .where('revision', '>', after)
      .orderBy('revision')
      .limit(limit)
      .execute()

  async function* wake(signal: AbortSignal): AsyncIterable<void> {
    for (let seen = dataVersion(); !signal.aborted; seen = dataVersion()) {
      yield
      while (!signal.aborted && dataVersion() === seen) await pause(commits, signal)
    }
  }

  return {
    read: createReader(reader, dataVersion, commits),
    embeddings: createEmbeddings(reader, writer),
    notes: createNotes(reader, writer),
    leases: createLeases(writer),
    identity: createIdentityStore(reader, commit),
    tasks: createTaskStore(reader, transact, clock),
    sessions: createSessionStore(reader, transact, clock),
    credentials: createCredentialStore(reader, transact),
    liveness: createLivenessStore(reader, commit, clock),
    write,
    changes,
    wake,
    async [Symbol.asyncDispose]() {
      await writer.destroy()
      await reader.destroy()
      reading.close()
      writing.close()
    },
  }
}

const pollMilliseconds = 500

/** Until this process commits, half a second passes or the signal aborts. */
async function pause(commits: EventEmitter, signal: AbortSignal): Promise<void> {
  const enough = AbortSignal.any([signal, AbortSignal.timeout(pollMilliseconds)])
  await once(commits, 'commit', { signal: enough }).catch(() => {})
}
