import { type Code, codes, Failure, type FieldError, mayBeDone } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { quotedName, withoutHidden } from '../../schemas/text.ts'

/** Codes whose cause the caller can correct; they are passed on. */
const passedCodes: ReadonlySet<Code> = new Set<Code>([
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

const maxTextLength = 2000
const maxCodeLength = 100
const maxChallengeLength = 500
const maxErrors = 20

/** True if the agent asks for a credential, or for another one: the agent works, and refuses this caller. */
export function wantsCredential({ details: { upstream } }: Failure): boolean {
  const { status, code } = upstream ?? {}
  return status === 401 || status === 403 || wantsOtherCredential(code)
}

function wantsOtherCredential(code: string | undefined): boolean {
  return code === 'unauthenticated' || code === 'forbidden'
}

/** Hint for an agent that asks for a credential. */
const credentialHint = 'It needs a credential: store yours for this agent with set_credential.'

/** Code of a stream, a socket or a process that ended while a request waited for its answer. */
export const connectionClosed = 'CONNECTION_CLOSED'

/** What the network says of a connection that broke after the call was sent, or may have been. */
const broken: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', connectionClosed])

/** A failure of a call that changes something; with a hint if the agent may have received it. */
export function withDoubt(failure: Failure): Failure {
  const { code, message, details } = failure
  if (code !== 'upstream_failed' || !broken.has(details.upstream?.code ?? '')) return failure
  return new Failure(code, message, { ...details, hint: mayBeDone }, failure)
}

/** Context of a refusal. */
interface RefusalContext {
  /** Name of the agent in texts: a host, or its own name. */
  readonly who: string
  readonly status?: number
  readonly retry_after_s?: number | undefined
  /** WWW-Authenticate of the answer. */
  readonly challenge?: string | undefined
}

/**
 * A problem (RFC 9457) with a `code` of Dragoman's catalogue, from another gateway or an agent with the same
 * interface. Codes whose cause the caller can correct are kept; every other code becomes `upstream_failed`. Its texts,
 * the hint among them, are the agent's words. Undefined for other bodies.
 */
export function failureOfProblem(problem: unknown, context: RefusalContext): Failure | undefined {
  if (!isRecord(problem) || typeof problem.code !== 'string') return undefined
  const { code } = problem
  const retry = retryOf(problem.retry_after_s, context)
  const message =
    quoted(problem.detail ?? problem.title, problem.hint) ??
    `${context.who} refused with ${quotedName(code.slice(0, maxCodeLength))}.`
  const details = {
    upstream: {
      code: withoutHidden(code.slice(0, maxCodeLength)),
      ...(context.status !== undefined && { status: context.status }),
      ...challengeOf(context),
    },
    ...(wantsOtherCredential(code) && { hint: credentialHint }),
    ...retry,
  }
  if (!isCode(code) || !passedCodes.has(code)) {
    return new Failure(codeOf(code), message, {
      ...details,
      retryable: 'retry_after_s' in retry || isRetryable(problem, code, context),
    })
  }
  const errors = errorsIn(problem.errors)
  return new Failure(code, message, { ...details, ...(errors.length > 0 && { errors }) })
}

/** An HTTP error without an answer in the agent's protocol. */
export function failureOfStatus(status: number, context: RefusalContext): Failure {
  const { who, retry_after_s } = context
  const details = {
    upstream: { status, ...challengeOf(context) },
    retryable: retry_after_s !== undefined || mayPass(status),
    ...(retry_after_s !== undefined && { retry_after_s }),
  }
  if (status === 403 && /\berror="?insufficient_scope\b/.test(context.challenge ?? '')) {
    return new Failure('upstream_failed', `${who} asks for a credential with more scopes (HTTP ${status}).`, {
      ...details,
      hint: 'Your credential lacks a scope. The challenge may name it; its authorization server has to grant it to you.',
    })
  }
  if (status === 401 || status === 403) {
    return new Failure('upstream_failed', `${who} asks for a credential (HTTP ${status}).`, {
      ...details,
      hint: credentialHint,
    })
  }
  if (status === 408 || status === 504) {
    return new Failure('upstream_timeout', `${who} did not answer in time (HTTP ${status}).`, details)
  }
  const isFailed = status === 429 || status >= 500
  return new Failure(
    isFailed ? 'upstream_failed' : 'upstream_invalid',
    `${who} answered HTTP ${status}.`,
    details,
  )
}

function challengeOf({ challenge }: RefusalContext): { challenge?: string } {
  const text = textOf(challenge?.slice(0, maxChallengeLength))
  return text === undefined ? {} : { challenge: text }
}

/** True if the same request may succeed later: no answer in time (408), too early (425), too often (429), a server error. */
function mayPass(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

/** Whether repeating helps: by the agent's own word, by the catalogue, by the status; a refusal without these stays. */
function isRetryable(problem: Record<string, unknown>, code: string, { status }: RefusalContext): boolean {
  if (typeof problem.retryable === 'boolean') return problem.retryable
  if (isCode(code)) return codes[code].retryable
  return status !== undefined && mayPass(status)
}

/** Statuses about the agent or its address, not about the single call. */
const aboutAgent = new Set([404, 405, 406, 408, 410, 421, 425, 426])

/**
 * True if an HTTP status concerns the single call (its params, its credential, its caller's quota: a 429 is per caller
 * if callers send credentials). Such a status does not count against the agent.
 */
export function isAboutCall(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && !aboutAgent.has(status)
}

/** The Failure for an agent whose address must not be called; the caller cannot correct that in its params. */
export function notCallable(failure: Failure): Failure {
  if (failure.code !== 'invalid_request' || failure.details.upstream) return failure
  const message = `The agent's address cannot be called. ${failure.message}`
  return new Failure('not_callable', message, {}, failure)
}

const says = 'The agent says: '

/**
 * Words of the agent within an error of the gateway, so that neither a person nor a model takes them for the advice of
 * the gateway. Undefined if it said nothing.
 */
export function quoted(...texts: readonly unknown[]): string | undefined {
  const words = texts.flatMap((text) => textOf(text) ?? []).join(' ')
  if (words === '') return undefined
  // Another gateway quotes its agent.
  return words.startsWith(says) ? words : `${says}${words}`
}

/** A text of the agent as shown to callers: truncated, without control characters, and hiding nothing. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const text = value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return withoutHidden(text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' '))
}

function isCode(code: string): code is Code {
  return Object.hasOwn(codes, code)
}

function codeOf(code: string): Code {
  return code === 'deadline_exceeded' || code === 'upstream_timeout' ? 'upstream_timeout' : 'upstream_failed'
}

function retryOf(field: unknown, { retry_after_s }: RefusalContext): { retry_after_s?: number } {
  const seconds =
    typeof field === 'number' && field >= 0 && field <= 86_400 ? Math.ceil(field) : retry_after_s
  return seconds === undefined ? {} : { retry_after_s: seconds }
}

function errorsIn(errors: unknown): FieldError[] {
  if (!Array.isArray(errors)) return []
  return errors.slice(0, maxErrors).flatMap((error) => {
    if (!isRecord(error) || typeof error.pointer !== 'string') return []
    return { pointer: withoutHidden(error.pointer.slice(0, 300)), detail: textOf(error.detail) ?? '' }
  })
}
