import type { CompiledQuery, Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** A group of tables: transactions of one realm follow one another, in all processes. */
export type Realm =
  | 'entries'
  | 'identity'
  | 'tasks'
  | 'sessions'
  | 'credentials'
  | 'liveness'
  | 'idempotency'
  | 'webhooks'
  | 'sign_in'

/** A statement whose answer nobody reads. */
export interface Statement {
  compile(): CompiledQuery
  execute(): Promise<unknown>
}

/** Takes the last statements of a transaction: they are sent together with its commit. */
export type Finish = (statements: readonly Statement[]) => void

/** Runs one transaction; it is repeated from the start if the database requires it. */
export type Transact = <T>(work: (transaction: Kysely<Tables>, finish: Finish) => Promise<T>) => Promise<T>
