import type { Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** What is written together: transactions of one realm follow one another, in all processes. */
export type Realm =
  | 'entries'
  | 'identity'
  | 'tasks'
  | 'sessions'
  | 'credentials'
  | 'liveness'
  | 'idempotency'
  | 'webhooks'

/** One transaction; it may be made again from the start where the database asks for that. */
export type Transact = <T>(work: (transaction: Transaction<Tables>) => Promise<T>) => Promise<T>
