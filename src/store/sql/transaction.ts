import type { Transaction } from 'kysely'
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

/** Runs one transaction; it is repeated from the start if the database requires it. */
export type Transact = <T>(work: (transaction: Transaction<Tables>) => Promise<T>) => Promise<T>
