import type { Content } from './content.ts'
import type { Endpoint } from './entry-parts.ts'
import type { Scope } from './scope.ts'

interface Row {
  /** HTTP status (RFC 9110). */
  readonly http: number
  /** JSON-RPC 2.0 error code; section 5.1 defines the reserved ones. */
  readonly rpc: number
  /** True if the same call may succeed when it is repeated unchanged a little later. */
  readonly retryable: boolean
  readonly title: string
}

/** The only catalogue of failures. Each transport translates a code by its row and adds no rule of its own. */
export const codes = {
  invalid_request: { http: 400, rpc: -32602, retryable: false, title: 'The request is not valid' },
  unauthenticated: { http: 401, rpc: -32001, retryable: false, title: 'A valid bearer token is needed' },
  forbidden: { http: 403, rpc: -32003, retryable: false, title: 'The caller is not allowed to do this' },
  not_found: { http: 404, rpc: -32004, retryable: false, title: 'Not found' },
  unknown_action: { http: 404, rpc: -32601, retryable: false, title: 'The agent has no such action' },
  wrong_state: {
    http: 409,
    rpc: -32009,
    retryable: false,
    title: 'The entry is in the wrong state for this',
  },
  conflict: { http: 409, rpc: -32010, retryable: false, title: 'Conflict with existing data' },
  precondition_failed: {
    http: 412,
    rpc: -32012,
    retryable: false,
    title: 'The entry has changed since it was read',
  },
  too_large: { http: 413, rpc: -32013, retryable: false, title: 'The message is too large' },
  unsupported_media_type: {
    http: 415,
    rpc: -32015,
    retryable: false,
    title: 'The media type is not supported',
  },
  method_not_allowed: {
    http: 405,
    rpc: -32005,
    retryable: false,
    title: 'The path does not support this method',
  },
  rate_limited: { http: 429, rpc: -32029, retryable: true, title: 'Too many requests' },
  quota_exceeded: { http: 429, rpc: -32045, retryable: false, title: 'A quota is used up' },
  reserved_tag: { http: 403, rpc: -32030, retryable: false, title: 'The tag is reserved' },
  hosted_agent: { http: 409, rpc: -32031, retryable: false, title: 'A hosted agent cannot be changed' },
  suspended: { http: 409, rpc: -32032, retryable: false, title: 'The entry is suspended' },
  not_configured: { http: 503, rpc: -32033, retryable: false, title: 'The operator has not configured this' },
  not_callable: {
    http: 409,
    rpc: -32034,
    retryable: false,
    title: 'The agent cannot be called through this gateway',
  },
  approval_required: {
    http: 409,
    rpc: -32048,
    retryable: false,
    title: 'The package is not approved to run here',
  },
  blocked_address: { http: 403, rpc: -32035, retryable: false, title: 'The address is not public' },
  cancelled: { http: 499, rpc: -32036, retryable: true, title: 'The caller cancelled the call' },
  deadline_exceeded: { http: 504, rpc: -32037, retryable: true, title: 'The deadline of the call passed' },
  upstream_timeout: { http: 504, rpc: -32038, retryable: true, title: 'The upstream did not answer in time' },
  upstream_invalid: { http: 502, rpc: -32039, retryable: true, title: 'The upstream sent an invalid answer' },
  upstream_failed: { http: 502, rpc: -32040, retryable: true, title: 'The upstream failed' },
  circuit_open: {
    http: 503,
    rpc: -32041,
    retryable: true,
    title: 'Circuit breaker open',
  },
  loop_detected: { http: 508, rpc: -32042, retryable: false, title: 'The call loops through gateways' },
  storage_full: { http: 507, rpc: -32043, retryable: true, title: 'Storage is full' },
  unavailable: { http: 503, rpc: -32044, retryable: true, title: 'The gateway cannot answer now' },
  cursor_expired: { http: 410, rpc: -32046, retryable: false, title: 'The cursor is too old' },
  not_installable: {
    http: 409,
    rpc: -32047,
    retryable: false,
    title: 'No configuration can be made for it',
  },
  sign_in_required: {
    http: 409,
    rpc: -32049,
    retryable: false,
    title: 'The agent asks its caller to sign in',
  },
  internal: { http: 500, rpc: -32603, retryable: true, title: 'The gateway failed' },
} as const satisfies Record<string, Row>

export type Code = keyof typeof codes

export interface FieldError {
  /** JSON Pointer (RFC 6901) into the params, '' for the whole. */
  readonly pointer: string
  readonly detail: string
}

/**
 * The details of a failure for its caller, in addition to the code and the message. Never a stack, never a secret.
 */
export interface Details {
  readonly errors?: readonly FieldError[]
  /**
   * What the caller can do. It names actions, which every protocol has, and a command only for what no action does. The
   * command line and the page put their own names in place of the actions.
   */
  readonly hint?: string
  /** Names close to the unknown one. */
  readonly nearest?: readonly string[]
  /** The scope that is missing. */
  readonly scope?: Scope
  readonly retry_after_s?: number
  /** Whether the same call may succeed when it is repeated, if that differs from the row of the code. */
  readonly retryable?: boolean
  /** The quota that is used up; a limit of null cannot be. */
  readonly quota?: {
    readonly quota: string
    readonly used: number
    readonly limit: number | null
    readonly left: number | null
  }
  /** Current revision of the entry. */
  readonly revision?: number
  readonly upstream?: {
    readonly code?: string
    readonly status?: number
    /** How the upstream asks for a credential: its WWW-Authenticate (RFC 9110, 11.6.1). */
    readonly challenge?: string
  }
  /** Where the caller signs in to the agent, in a browser. */
  readonly sign_in_url?: string
  /** Continues the call by `continue_task`. */
  readonly task_id?: string
  readonly manifest_url?: string | null
  readonly endpoints?: readonly Endpoint[]
}

/** What is left of a caller's rate limit. */
export interface Allowance {
  readonly policy: string
  readonly limit: number
  readonly remaining: number
  readonly reset_s: number
}

/** Hint for a call that was begun, and whose answer did not arrive. */
export const mayBeDone =
  'It may have done its work all the same: before you repeat a call that changes something, look whether it did.'

/** The only error that leaves the router. `cause` is logged and never sent. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: Code
  readonly details: Details
  /** What a listed agent said with its refusal. */
  content?: Content
  /** The limit that the caller has reached, for the headers of an answer. */
  allowance?: Allowance

  constructor(code: Code, message: string, details: Details = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }

  /** `invalid_request` about one field; `pointer` is its JSON Pointer (RFC 6901). */
  static invalidField(pointer: string, detail: string): Failure {
    return new Failure('invalid_request', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] })
  }

  /** `unauthenticated`, for a caller without a token. */
  static needsToken(message = 'This needs a bearer token.', details: Details = {}): Failure {
    const hint =
      'Send Authorization: Bearer TOKEN. On the machine of the gateway `dragoman token create` makes one; elsewhere sign in by `dragoman login URL`.'
    return new Failure('unauthenticated', message, { hint, ...details })
  }

  /** `invalid_request`, for an address that holds a token or a key. It does not repeat the secret. */
  static secretInAddress(): Failure {
    return new Failure('invalid_request', 'The address must not hold a token or a key.', {
      hint: 'Send it as Authorization: Bearer TOKEN. Treat the one that you sent as public, and replace it.',
    })
  }

  /** The Failure of a call that its caller gave up or whose signal aborted: its reason if that is a Failure, else `cancelled`. */
  static cancelled({ reason }: { readonly reason?: unknown } = {}): Failure {
    if (reason instanceof Failure) return reason
    return new Failure('cancelled', 'The caller cancelled the call.', {}, reason)
  }

  /** Turns anything thrown into a Failure; an unexpected error becomes `internal`, and its text is not sent. */
  static from(thrown: unknown): Failure {
    if (thrown instanceof Failure) return thrown
    return new Failure(
      'internal',
      'An unexpected error occurred in the gateway. It has been logged.',
      {},
      thrown,
    )
  }
}

/** The codes whose HTTP status is this one. */
export function codesOf(status: number): Code[] {
  return (Object.keys(codes) as Code[]).filter((code) => codes[code].http === status)
}

/** The JSON shape of a failure at every transport (RFC 9457 members where they exist). */
interface Problem extends Details {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: Code
  readonly instance: string
  readonly retryable: boolean
}

/**
 * Renders a failure as RFC 9457 problem details; `id` is the request's id. `guide` is the address of the page that
 * explains the codes; transports without one name the code by a URN.
 */
export function problem(failure: Failure, id: string, guide?: string): Problem {
  const row = codes[failure.code]
  return {
    type: guide === undefined ? `urn:dragoman:problem:${failure.code}` : `${guide}#${failure.code}`,
    title: row.title,
    status: row.http,
    detail: failure.message,
    code: failure.code,
    instance: id,
    retryable: row.retryable || failure.details.retry_after_s !== undefined,
    ...failure.details,
  }
}
