import pg from 'pg'
import { Failure } from '../../../schemas/failure.ts'
import { clientOptions } from './connect.ts'
import { storeFailure } from './faults.ts'
import { databaseAddress } from './redact-url.ts'

const oldest = 150_000
const statementMilliseconds = 5000

/** Facts about a PostgreSQL server. */
export interface AboutPostgres {
  /** As in `15.14`. */
  readonly version: string
  /** By the server's clock, in milliseconds since the epoch. */
  readonly now: number
  readonly connections: { readonly max: number; readonly used: number }
  readonly is_read_only: boolean
}

/**
 * Reads facts about a server. Throws Failure `unavailable` if the server does not answer, `not_configured` if it
 * refuses the credentials or cannot be used.
 */
export async function askPostgres(url: string): Promise<AboutPostgres> {
  const address = databaseAddress(url)
  const client = new pg.Client(clientOptions(url, { statement: statementMilliseconds, lock: 0 }))
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(
      `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
        current_setting('server_encoding') as encoding, extract(epoch from clock_timestamp())::float8 as now,
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
        (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as used,
        current_setting('transaction_read_only') = 'on' as is_read_only`,
    )
    const [{ version, number, encoding, now, most, used, is_read_only }] = rows as [Row]
    if (number < oldest)
      throw unsupported(`PostgreSQL ${version} at ${address} is too old; Dragoman needs 15 or later.`)
    if (encoding !== 'UTF8')
      throw unsupported(`The database at ${address} has the encoding ${encoding}; Dragoman needs UTF8.`)
    return {
      version: version.split(' ')[0] ?? version,
      now: now * 1000,
      connections: { max: most, used: used - 1 },
      is_read_only,
    }
  } catch (fault) {
    throw explained(storeFailure(fault), address)
  } finally {
    await client.end().catch(() => {})
  }
}

interface Row {
  readonly version: string
  readonly number: number
  readonly encoding: string
  /** Seconds since the epoch. */
  readonly now: number
  readonly most: number
  readonly used: number
  readonly is_read_only: boolean
}

function unsupported(message: string): Failure {
  return new Failure('not_configured', message, { hint: 'Set DATABASE_URL to another database.' })
}

/** Adds the server and the cause; only the operator sees the message. */
export function explained(fault: unknown, address: string): unknown {
  if (!(fault instanceof Failure) || !(fault.cause instanceof Error)) return fault
  const { code, message } = fault.cause as Error & { code?: string }
  const hint = fault.details.hint ?? 'Start it, or set DATABASE_URL to its address.'
  const why = message || code
  return new Failure(fault.code, `PostgreSQL at ${address} cannot be used: ${why}.`, { hint }, fault.cause)
}
