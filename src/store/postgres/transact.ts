import type { PostgresPool, PostgresPoolClient } from 'kysely'
import { retryFor } from '../../common/retry.ts'
import type { Finish, Realm, Statement, Transact } from '../sql/transaction.ts'
import { over } from './connect.ts'
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
  calls: 10,
}
const retryMilliseconds = 1000

/**
 * Transactions of one realm follow one another in all processes, as in SQLite: each holds the realm's lock from its
 * beginning, so its reads stay valid until it commits. Within this process, waiting transactions hold no connection.
 * Processes wait for each other's round trips, so the lock, the statements that need no answers of others, and the
 * last statements with the commit each take one. The connections of the pool must pipeline. With `telling`, a commit
 * notifies the others of the last revision that it has written, or of none if that is not known. Nothing is tried again
 * once `isGivenUp`.
 */
export function createTransact(
  pool: PostgresPool,
  isGivenUp: () => boolean = () => false,
): (realm: Realm, telling?: boolean) => Transact {
  return (realm, telling = false) => {
    const begin = `begin; select pg_advisory_xact_lock(${lockClass}, ${locks[realm]})`
    let last: Promise<unknown> = Promise.resolve()

    const once: Transact = async (work) => {
      let hasBegun = false
      const attempt = async () => {
        const client = await pool.connect()
        const open = openTransaction(client, pool, telling)
        let isClean = true
        try {
          const locked = client.query(begin, []).then(() => {
            hasBegun = true
          })
          // Its first reads follow the lock in the same round trip; they fail if the lock does.
          const working = (async () => await work(open.transaction, open.finish))()
          const [begun, worked] = await Promise.allSettled([locked, working])
          if (begun.status === 'rejected') throw begun.reason
          if (worked.status === 'rejected') throw worked.reason
          await open.commit()
          return worked.value
        } catch (fault) {
          isClean = await open.rollback()
          throw fault
        } finally {
          client.release(!isClean)
        }
      }
      // Once the lock is held, a lost connection may hide a successful commit.
      const again = (fault: unknown) =>
        !isGivenUp() && (isConflict(fault) || (isUnreachable(fault) && !hasBegun))
      return await retryFor(attempt, again, { ...retries, within_ms: retryMilliseconds })
    }

    return (work) => {
      const done = last.then(() => once(work))
      last = done.catch(() => {})
      return done
    }
  }
}

/** A transaction on a connection; its statements are refused after its end. */
function openTransaction(client: PostgresPoolClient, { options }: PostgresPool, telling: boolean) {
  const last: Statement[] = []
  let revision: number | undefined
  let isOpen = true
  const query = async (text: string, parameters: readonly unknown[]) => {
    if (!isOpen) throw new Error('The transaction has ended.')
    return await client.query(text, parameters)
  }
  const connection = { query, release() {} } as PostgresPoolClient
  return {
    transaction: over({ connect: async () => connection, end: async () => {}, options }),
    finish: ((statements, written) => {
      last.push(...statements)
      revision = written.at(-1)?.revision
    }) satisfies Finish,
    async commit(): Promise<void> {
      isOpen = false
      const compiled = last.map((statement) => statement.compile())
      const sent = compiled.map(({ sql, parameters }) => client.query(sql, parameters))
      if (telling) sent.push(client.query('select pg_notify($1, $2)', [channel, `${revision ?? ''}`]))
      const [{ command }] = await Promise.all([client.query('commit', []), ...sent])
      // The answer to a commit after a failed statement.
      if (command === 'ROLLBACK') throw new Error('A statement of the transaction has failed.')
    },
    /** False if the connection cannot be used any more. */
    async rollback(): Promise<boolean> {
      isOpen = false
      return await client.query('rollback', []).then(
        () => true,
        () => false,
      )
    },
  }
}
