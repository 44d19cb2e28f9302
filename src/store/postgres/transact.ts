import { type Kysely, sql } from 'kysely'
import { retryFor } from '../../common/retry.ts'
import type { Tables } from '../sql/tables.ts'
import type { Realm, Transact } from '../sql/transaction.ts'
import { isConflict, isUnreachable, retries } from './faults.ts'
import { channel } from './listener.ts'

/** The class of our advisory locks, apart from those of other programs in the same database. */
const lockClass = 0x64726167
const locks: Record<Realm, number> = {
  entries: 1,
  identity: 2,
  tasks: 3,
  sessions: 4,
  credentials: 5,
  liveness: 6,
  idempotency: 7,
  webhooks: 8,
  sign_in: 9,
}
const retryMilliseconds = 1000

/**
 * Transactions of one realm follow one another in all processes, as in SQLite: each holds the realm's lock from its
 * beginning, so its reads stay valid until it commits. Within this process, waiting transactions hold no connection.
 */
export function createTransact(writer: Kysely<Tables>): (realm: Realm, telling?: boolean) => Transact {
  return (realm, telling = false) => {
    const lock = sql`pg_advisory_xact_lock(${lockClass}::int, ${locks[realm]}::int)`
    // PostgreSQL delivers a notification at the commit, so the first statement may send it.
    const first = telling ? sql`select ${lock}, pg_notify(${channel}, '')` : sql`select ${lock}`
    let last: Promise<unknown> = Promise.resolve()

    const once: Transact = async (work) => {
      let hasBegun = false
      const attempt = () =>
        writer.transaction().execute(async (transaction) => {
          await first.execute(transaction)
          hasBegun = true
          return await work(transaction)
        })
      // Once `work` has begun, a lost connection may hide a successful commit.
      const again = (fault: unknown) => isConflict(fault) || (isUnreachable(fault) && !hasBegun)
      return await retryFor(attempt, again, { ...retries, within_ms: retryMilliseconds })
    }

    return (work) => {
      const done = last.then(() => once(work))
      last = done.catch(() => {})
      return done
    }
  }
}
