import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'

/** What Node says of a server that is not there (libuv's names), and what `pg` says, which has no codes. */
const unreachableCodes =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES|EHOSTUNREACH|ENETUNREACH)$/
const unreachableWords =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout e|Query read timeout)/

/** SQLSTATEs (PostgreSQL documentation, appendix A) of a server that is going, coming or refusing more. */
const away = /^(08...|57P0[1-5]|53300)$/
/** Waited too long, was ended, or lost against another: the same may succeed a little later. */
const busy = /^(40001|40P01|55P03|57014|25P0[34]|53...)$/
const refused = /^(28...|3D000|42501|3F000)$/
const retry = { retry_after_s: 1 }

/** Pauses between attempts that the server may accept a little later. */
export const retries = { first_ms: 25, max_ms: 1000 }

/** What PostgreSQL or the way to it threw, as a Failure where a caller can do something about it. */
export function storeFailure(thrown: unknown): unknown {
  if (thrown instanceof Failure) return thrown
  const code = codeOf(thrown)
  if (isUnreachable(thrown)) return new Failure('unavailable', 'The store cannot be reached.', retry, thrown)
  if (code === '53100') {
    return new Failure('storage_full', 'The disk of the store is full; nothing was written.', {}, thrown)
  }
  if (code === '25006') {
    const hint = 'Let DATABASE_URL name the primary server.'
    return new Failure('unavailable', 'The store is read-only; nothing was written.', { hint }, thrown)
  }
  if (busy.test(code))
    return new Failure('unavailable', 'The store is busy; nothing was written.', retry, thrown)
  if (refused.test(code)) {
    const hint = 'Check the user, the password, the database and their rights in DATABASE_URL.'
    return new Failure('not_configured', 'The store does not let the gateway in.', { hint }, thrown)
  }
  // PostgreSQL's texts hold every character but one.
  if (code === '22021') return new Failure('invalid_request', 'A text holds the character NUL.', {}, thrown)
  return thrown
}

/** The connection is gone or could not be made. Whether what was under way happened is not known. */
export function isUnreachable(thrown: unknown): boolean {
  if (thrown instanceof Failure) return isUnreachable(thrown.cause)
  const code = codeOf(thrown)
  if (code !== '') return away.test(code) || unreachableCodes.test(code)
  return thrown instanceof Error && unreachableWords.test(thrown.message)
}

/** A transaction that lost against another and may be made again from the start. */
export function isConflict(thrown: unknown): boolean {
  return thrown instanceof Failure ? isConflict(thrown.cause) : /^40(001|P01)$/.test(codeOf(thrown))
}

function codeOf(thrown: unknown): string {
  return isRecord(thrown) && typeof thrown.code === 'string' ? thrown.code : ''
}
