import type { CompiledQuery } from 'kysely'
import type { Database, EntryTable } from './tables.ts'

/** A group of tables: transactions of one realm follow one another, in all processes. */
export type Realm =
  | 'entries'
  | 'identity'
  | 'tasks'
  | 'sessions'
  | 'credentials'
  | 'liveness'
  | 'calls'
  | 'idempotency'
  | 'webhooks'
  | 'sign_in'

/** A statement whose answer nobody reads. */
export interface Statement {
  compile(): CompiledQuery
  execute(): Promise<unknown>
}

/**
 * Takes the last statements of a transaction, which are sent together with its commit, and the entries that it writes,
 * in the order of their revisions, which are consecutive. Without a call, a transaction may write any entry.
 */
export type Finish = (statements: readonly Statement[], written: readonly EntryTable[]) => void

/** Runs one transaction; it is repeated from the start if the database requires it. */
export type Transact = <T>(work: (transaction: Database, finish: Finish) => Promise<T>) => Promise<T>
