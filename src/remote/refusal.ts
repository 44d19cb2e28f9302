import { type Code, codes, Failure, type FieldError } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'

/** What the caller can mend, and is therefore told in the agent's own words. */
const callers: ReadonlySet<Code> = new Set<Code>([
  'invalid_request',
  'not_found',
  'unknown_action',
  'wrong_state',
  'conflict',
  'precondition_failed',
  'too_large',
  'reserved_tag',
  'hosted_agent',
  'not_callable',
  'loop_detected',
])

const longestText = 2000
const mostErrors = 20

/** Whether an agent wants a credential, or another one: it is well, and refuses this caller. */
export function wantsCredential({ details: { upstream } }: Failure): boolean {
  const { status, code } = upstream ?? {}
  return status === 401 || status === 403 || code === 'unauthenticated' || code === 'forbidden'
}

/** What to do about an agent that does not let us in. */
export const credentialHint = 'Store the credential that you have for this agent with set_credential.'

/** What is known of a refusal beside its words. */
export interface Refused {
  /** Who refused: a host, or the name of the agent. */
  readonly who: string
  readonly status?: number
  readonly retry_after_s?: number | undefined
}

/**
 * A problem in our own words (RFC 9457 with a `code`), by another gateway or an agent that speaks as we do. What the
 * caller can mend keeps its code; whatever else went wrong there is `upstream_failed` here. Undefined where it is none.
 */
export function failureOfProblem(problem: unknown, refused: Refused): Failure | undefined {
  if (!isRecord(problem) || typeof problem.code !== 'string') return undefined
  const { code } = problem
  const message = textOf(problem.detail) ?? textOf(problem.title) ?? `${refused.who} refused with ${code}.`
  const details = {
    upstream: { code: code.slice(0, 100), ...(refused.status !== undefined && { status: refused.status }) },
    ...hintOf(problem, code),
    ...retryOf(problem.retry_after_s, refused),
  }
  if (!isCode(code) || !callers.has(code)) return new Failure(codeOf(code), message, details)
  const errors = errorsIn(problem.errors)
  return new Failure(code, message, { ...details, ...(errors.length > 0 && { errors }) })
}

/** An answer of HTTP that is no answer in the agent's protocol. */
export function failureOfStatus(status: number, { who, retry_after_s }: Refused): Failure {
  const details = { upstream: { status }, ...(retry_after_s !== undefined && { retry_after_s }) }
  if (status === 401 || status === 403) {
    return new Failure('upstream_failed', `${who} asks for a credential (HTTP ${status}).`, {
      ...details,
      hint: credentialHint,
    })
  }
  if (status === 408 || status === 504) {
    return new Failure('upstream_timeout', `${who} did not answer in time (HTTP ${status}).`, details)
  }
  const failed = status === 429 || status >= 500
  return new Failure(
    failed ? 'upstream_failed' : 'upstream_invalid',
    `${who} answered HTTP ${status}.`,
    details,
  )
}

/** Statuses that tell of the agent or of its address, and nothing of who asks for what. */
const aboutAgent = new Set([404, 405, 406, 408, 410, 421, 425, 426])

/**
 * Whether a status of HTTP is about the one call: its params, its credential, what its caller has used up (429 counts
 * each caller's own where callers show credentials), and so says nothing against the agent.
 */
export function isAboutCall(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && !aboutAgent.has(status)
}

/** Of an address that is not called: nothing that the caller of an action could mend in its params. */
export function notCallable(failure: Failure): Failure {
  if (failure.code !== 'invalid_request' || failure.details.upstream) return failure
  const message = `The address of the agent is not one to call. ${failure.message}`
  return new Failure('not_callable', message, {}, failure)
}

/** Text of theirs as it is shown to callers: cut, and without control characters. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const text = value.length > longestText ? `${value.slice(0, longestText)}…` : value
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' ')
}

function isCode(code: string): code is Code {
  return Object.hasOwn(codes, code)
}

function codeOf(code: string): Code {
  return code === 'deadline_exceeded' || code === 'upstream_timeout' ? 'upstream_timeout' : 'upstream_failed'
}

function hintOf({ hint }: Record<string, unknown>, code: string): { hint?: string } {
  if (code === 'unauthenticated' || code === 'forbidden') return { hint: credentialHint }
  const text = textOf(hint)
  return text === undefined ? {} : { hint: text }
}

function retryOf(said: unknown, { retry_after_s }: Refused): { retry_after_s?: number } {
  const seconds = typeof said === 'number' && said >= 0 && said <= 86_400 ? Math.ceil(said) : retry_after_s
  return seconds === undefined ? {} : { retry_after_s: seconds }
}

function errorsIn(errors: unknown): FieldError[] {
  if (!Array.isArray(errors)) return []
  return errors.slice(0, mostErrors).flatMap((one) => {
    if (!isRecord(one) || typeof one.pointer !== 'string') return []
    return { pointer: one.pointer.slice(0, 300), detail: textOf(one.detail) ?? '' }
  })
}
