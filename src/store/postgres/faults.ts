import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { RefusingStore, UnreachableStore, type WriteRefusal } from '../store-health.ts'

/** Codes of Node for an unreachable server (libuv's names), and messages of `pg`, whose errors have no codes. */
const unreachableCodes =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES|EHOSTUNREACH|ENETUNREACH)$/
const unreachableWords =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout e|Query read timeout)/

/** SQLSTATEs (PostgreSQL documentation, appendix A) of a server that stops, starts or has no connection left. */
const away = /^(08...|57P0[1-5]|53300)$/
/** SQLSTATEs of a time-out, a cancellation and a lost conflict: the same call may succeed a little later. */
const busy = /^(40001|40P01|55P03|57014|25P0[34]|53...)$/
/** SQLSTATEs of a wrong user, password or database. */
const refused = /^(28...|3D000)$/
/** SQLSTATEs of a right that is missing, such as that to make tables. */
const forbidden = /^(42501|3F000)$/
/** SQLSTATE of a table that a migration makes, and that is there. */
const tableIsThere = '42P07'
/** Codes of Node (its names for those of OpenSSL) for a connection without the TLS that is wanted, and messages of `pg`. */
const untrustedCodes = /CERT|^(ERR_(TLS|SSL)_|UNABLE_TO_|INVALID_PURPOSE|HOSTNAME_MISMATCH)/
const untrustedWords = /SSL connection/
const retry = { retry_after_s: 1 }

/** Pauses between attempts. */
export const retries = { first_ms: 25, max_ms: 1000 }

/** Translates an error of PostgreSQL or of its connection to a Failure if a caller can act on it. */
export function storeFailure(thrown: unknown): unknown {
  if (thrown instanceof Failure) return thrown
  const code = codeOf(thrown)
  if (isUnreachable(thrown)) return new UnreachableStore(thrown)
  if (code === '53100') {
    return new Failure(
      'storage_full',
      'The disk of the store is full; the change was not written.',
      {},
      thrown,
    )
  }
  if (code === '25006') {
    const hint = 'Set DATABASE_URL to the primary server.'
    return new Failure('unavailable', 'The store is read-only; the change was not written.', { hint }, thrown)
  }
  if (busy.test(code))
    return new Failure('unavailable', 'The store is busy; nothing was written.', retry, thrown)
  if (refused.test(code))
    return new RefusingStore(
      'Check the user, the password and the database in DATABASE_URL, and what pg_hba.conf allows.',
      thrown,
    )
  if (isUntrusted(thrown))
    return new RefusingStore(
      'Turn TLS on in the server, or set sslmode in DATABASE_URL: verify-full with sslrootcert for a CA of your own, disable for no TLS.',
      thrown,
    )
  if (forbidden.test(code)) {
    const hint =
      'Let the user in DATABASE_URL own the database: alter database NAME owner to USER. What another user made there: reassign owned by OTHER to USER.'
    return new Failure(
      'not_configured',
      'The user of the gateway lacks a right in the store.',
      { hint },
      thrown,
    )
  }
  if (code === tableIsThere) {
    const hint =
      'Restore into an empty database, by pg_restore --single-transaction; or name a database of the gateway alone.'
    return new Failure(
      'not_configured',
      'The database holds tables of these names, and no record of the migrations that made them.',
      { hint },
      thrown,
    )
  }
  // NUL is the only character that a PostgreSQL text cannot hold.
  if (code === '22021')
    return new Failure('invalid_request', 'A text contains the character NUL.', {}, thrown)
  return thrown
}

/** True for a connection that was lost or not made. Whether the transaction was committed is unknown. */
export function isUnreachable(thrown: unknown): boolean {
  if (thrown instanceof Failure) return isUnreachable(thrown.cause)
  const code = codeOf(thrown)
  if (code !== '') return away.test(code) || unreachableCodes.test(code)
  return thrown instanceof Error && unreachableWords.test(thrown.message)
}

function isUntrusted(thrown: unknown): boolean {
  const code = codeOf(thrown)
  return code === ''
    ? thrown instanceof Error && untrustedWords.test(thrown.message)
    : untrustedCodes.test(code)
}

/** True for a transaction that lost a conflict and may be repeated from the start. */
export function isConflict(thrown: unknown): boolean {
  return thrown instanceof Failure ? isConflict(thrown.cause) : /^40(001|P01)$/.test(codeOf(thrown))
}

/** Why the server refuses every write; undefined for other errors. */
export function refusalOf(thrown: unknown): WriteRefusal | undefined {
  if (thrown instanceof Failure) return refusalOf(thrown.cause)
  const code = codeOf(thrown)
  if (code === '53100') return 'storage_full'
  return code === '25006' ? 'read_only' : undefined
}

function codeOf(thrown: unknown): string {
  return isRecord(thrown) && typeof thrown.code === 'string' ? thrown.code : ''
}
