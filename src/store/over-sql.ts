import type { Kysely, Transaction } from 'kysely'
import { createCredentialStore } from './credentials.ts'
import { createEmbeddings } from './embeddings.ts'
import { createIdentityStore } from './identity.ts'
import { createLeases } from './leases.ts'
import { createNotes } from './notes.ts'
import { createSessionStore } from './playground.ts'
import type { Store } from './store.ts'
import type { Tables } from './tables.ts'
import { createTaskStore } from './tasks.ts'
import { createWriter } from './writer.ts'

/** What is written together: transactions of one realm follow one another, in all processes. */
export type Realm = 'entries' | 'identity' | 'tasks' | 'sessions' | 'credentials'

/** One transaction; it may be made again from the start where the database asks for that. */
export type Transact = <T>(work: (transaction: Transaction<Tables>) => Promise<T>) => Promise<T>

/** What a dialect brings. */
export interface Database {
  readonly reader: Kysely<Tables>
  readonly writer: Kysely<Tables>
  readonly transact: (realm: Realm) => Transact
  /** As `transact`; those who wait for a commit are woken. */
  readonly commit: (realm: Realm) => Transact
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** All of a store that is the same in either dialect. */
export function overSql({
  reader,
  writer,
  transact,
  commit,
  clock,
}: Database): Omit<Store, 'read' | 'wake' | typeof Symbol.asyncDispose> {
  const commitEntries = commit('entries')
  return {
    embeddings: createEmbeddings(reader, writer),
    notes: createNotes(reader, writer),
    leases: createLeases(writer),
    identity: createIdentityStore(reader, commit('identity')),
    tasks: createTaskStore(reader, transact('tasks'), clock),
    sessions: createSessionStore(reader, transact('sessions'), clock),
    credentials: createCredentialStore(reader, transact('credentials')),
    write: (work) =>
      commitEntries(async (transaction) => {
        const { writer: port, commit: number } = createWriter(transaction, clock)
        const result = await work(port)
        return { result, revision: await number() }
      }),
    changes: (after, limit) =>
      reader
        .selectFrom('change')
        .selectAll()
        .where('revision', '>', after)
        .orderBy('revision')
        .limit(limit)
        .execute(),
  }
}
