import { Failure } from '../../../schemas/failure.ts'
import type { Deadline } from '../../common/deadline.ts'

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

const malformed = new Set([
  'HTTPParserError',
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ERR_STREAM_PREMATURE_CLOSE',
])

/** Any error of a fetch as the Failure that the caller sees. It names `host`, never its addresses. */
export function translate(
  error: unknown,
  host: string,
  caller: AbortSignal,
  deadline: Pick<Deadline, 'has_passed'>,
): Failure {
  if (caller.aborted) return Failure.cancelled(caller)
  if (error instanceof Failure) return error
  const code = codeOf(error)
  const details = { upstream: { code } }
  if (code === 'UND_ERR_INVALID_ARG') {
    return new Failure('invalid_request', 'The request is invalid and cannot be sent.', {}, error)
  }
  if (deadline.has_passed || timeouts.has(code)) {
    return new Failure('upstream_timeout', `${host} did not answer in time.`, details, error)
  }
  if (
    malformed.has(code) ||
    code.startsWith('HPE_') ||
    code.startsWith('Z_') ||
    /^ERR_(BROTLI|_ERROR_FORMAT)/.test(code)
  ) {
    return new Failure('upstream_invalid', `${host} sent an answer that cannot be read.`, details, error)
  }
  return new Failure('upstream_failed', `${host} ${reasonOf(code)}`, details, error)
}

/** What the code of a connection says, for a reader who does not know it. */
function reasonOf(code: string): string {
  if (code === 'ENOTFOUND' || code === 'ENODATA') return 'has no address: no name server knows the host.'
  if (code === 'ECONNREFUSED') return 'refused the connection: nothing listens there.'
  return 'could not be reached or broke off.'
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return 'UNKNOWN'
  if (typeof error.code === 'string') return error.code
  return error.name
}
