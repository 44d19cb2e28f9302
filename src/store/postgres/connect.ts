import { Socket } from 'node:net'
import {
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'
import pg from 'pg'
import { retryFor } from '../../common/retry.ts'
import type { Database, Tables } from '../sql/tables.ts'
import { isUnreachable, retries, storeFailure } from './faults.ts'

/** Milliseconds; 0 is no limit. */
interface Limits {
  readonly statement: number
  /** Maximum wait for a lock that another transaction holds. */
  readonly lock: number
}

const connectMilliseconds = 5000
/** The client's time-out of a statement exceeds the server's by this, because the server itself may hang. */
const graceMilliseconds = 2000
const retryMilliseconds = 1000

/** int8 and numeric, the types of counts and sums, are read as numbers: none of our values exceeds 2^53. */
const numbers = new Set([20, 1700])
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    numbers.has(oid) ? Number : pg.types.getTypeParser(oid, format),
}

/** The sockets of connections to a server, which may answer no more. */
export class Sockets {
  readonly #open = new Set<Socket>()
  #isCut = false

  get isCut(): boolean {
    return this.#isCut
  }

  /** A socket for a new connection. */
  readonly create = (): Socket => {
    const socket = new Socket()
    this.#open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => this.#open.delete(socket))
    if (this.#isCut) setImmediate(() => cut(socket))
    return socket
  }

  /** Breaks all connections, and each later one: their statements fail at once. */
  readonly cut = (): void => {
    this.#isCut = true
    for (const socket of this.#open) cut(socket)
  }
}

function cut(socket: Socket): void {
  socket.destroy(new Error('Connection terminated: the gateway waits for the database no longer.'))
}

/**
 * The driver verifies the certificate and the name for these modes as well, and warns on each start that its next
 * version will not. `uselibpqcompat` asks for what libpq does.
 */
function verifying(url: string): string {
  if (url.includes('uselibpqcompat=true')) return url
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
}

/** The options of every connection. */
export function clientOptions(
  url: string,
  { statement, lock }: Limits,
  { create }: Pick<Sockets, 'create'> = new Sockets(),
): pg.ClientConfig {
  return {
    stream: create,
    connectionString: verifying(url),
    fallback_application_name: 'dragoman',
    connectionTimeoutMillis: connectMilliseconds,
    statement_timeout: statement,
    lock_timeout: lock,
    idle_in_transaction_session_timeout: statement,
    query_timeout: statement && statement + graceMilliseconds,
    keepAlive: true,
    types,
  }
}

/**
 * At most `max` connections. A failed connection is retried for a second. Errors are thrown as `storeFailure`
 * translates them; `onError` is called for idle connections that break. With `pipeline`, a connection sends its
 * statements at once, before earlier ones are answered.
 */
export function createPool(
  url: string,
  max: number,
  limits: Limits,
  onError: (fault: unknown) => void,
  { sockets, ...options }: Pick<pg.ClientConfig, 'pipeline'> & { readonly sockets?: Sockets },
): PostgresPool {
  const pool = new pg.Pool({
    ...clientOptions(url, limits, sockets),
    ...options,
    max,
    idleTimeoutMillis: 60_000,
  })
  pool.on('error', (fault) => onError(storeFailure(fault)))
  // The pool listens to errors of idle connections alone; a connection that breaks in use fails its query.
  pool.on('connect', (client) => client.on('error', () => {}))
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const again = (fault: unknown) => isUnreachable(fault) && sockets?.isCut !== true
      try {
        return guarded(
          await retryFor(() => pool.connect(), again, { ...retries, within_ms: retryMilliseconds }),
        )
      } catch (fault) {
        throw storeFailure(fault)
      }
    },
  }
}

/** Kysely over the connections of a pool. */
export function over(pool: PostgresPool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/** A connection that the pool drops after its first connection error. */
function guarded(client: pg.PoolClient): PostgresPoolClient {
  let isBroken = false
  async function query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    if (isBroken) throw storeFailure(new Error('Connection terminated'))
    try {
      return (await client.query(text, [...parameters])) as unknown as PostgresQueryResult<R>
    } catch (fault) {
      isBroken ||= isUnreachable(fault)
      throw storeFailure(fault)
    }
  }
  return {
    query: query as PostgresPoolClient['query'],
    release: (discard) => client.release(discard || isBroken),
  }
}
