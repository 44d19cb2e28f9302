import pg from 'pg'
import { Failure } from '../../../schemas/failure.ts'
import { clientOptions } from './connect.ts'
import { storeFailure } from './faults.ts'
import { placeOf } from './place.ts'

const oldest = 150_000
const statementMilliseconds = 5000

/**
 * The version of the server, as in `15.14`. Throws Failure `unavailable` where it does not answer, `not_configured` where it does
 * not let us in or cannot be used.
 */
export async function askPostgres(url: string): Promise<{ version: string }> {
  const place = placeOf(url)
  const client = new pg.Client(clientOptions(url, { statement: statementMilliseconds, lock: 0 }))
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(
      `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
        current_setting('server_encoding') as encoding`,
    )
    const [{ version, number, encoding }] = rows as [{ version: string; number: number; encoding: string }]
    if (number < oldest)
      throw unfit(`PostgreSQL ${version} at ${place} is too old; 15 is the oldest that serves.`)
    if (encoding !== 'UTF8') throw unfit(`The database at ${place} is encoded in ${encoding}, not in UTF8.`)
    return { version: version.split(' ')[0] ?? version }
  } catch (fault) {
    throw explained(storeFailure(fault), place)
  } finally {
    await client.end().catch(() => {})
  }
}

function unfit(message: string): Failure {
  return new Failure('not_configured', message, { hint: 'Set DATABASE_URL to another database.' })
}

/** Says to the operator, who alone sees it, which server and why. */
function explained(fault: unknown, place: string): unknown {
  if (!(fault instanceof Failure) || !(fault.cause instanceof Error)) return fault
  const { code, message } = fault.cause as Error & { code?: string }
  const hint = fault.details.hint ?? 'Start it, or set DATABASE_URL to where it is.'
  const why = message || code
  return new Failure(fault.code, `PostgreSQL at ${place} cannot be used: ${why}.`, { hint }, fault.cause)
}
