import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Code, codes } from '../../../schemas/failure.ts'
import { type Headers, retryHeaders, send } from '../http/respond.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'

/** An error of the token endpoint (RFC 6749 section 5.2, RFC 8707 section 2). */
type OAuthError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'temporarily_unavailable'
  | 'server_error'

export class OAuthRefusal extends Error {
  override readonly name = 'OAuthRefusal'
  readonly error: OAuthError

  constructor(error: OAuthError, message: string) {
    super(message)
    this.error = error
  }
}

export const noStore: Headers = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json' }

const errors: Partial<Record<Code, OAuthError>> = {
  unauthenticated: 'invalid_client',
  forbidden: 'unauthorized_client',
  // An API key of another owner.
  not_found: 'unauthorized_client',
  rate_limited: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  invalid_request: 'invalid_request',
  too_large: 'invalid_request',
  unsupported_media_type: 'invalid_request',
}

/** Answers with JSON for any error; 401 names the supported scheme. */
export function refuse(
  context: Pick<TransportContext, 'onError'>,
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
): void {
  const { error, status, message, retry = {} } = describe(context, thrown)
  const body = { error, error_description: message }
  send(request, response, status, JSON.stringify(body), {
    ...noStore,
    ...(status === 401 && { 'WWW-Authenticate': 'Basic realm="dragoman"' }),
    ...retry,
  })
}

interface Described {
  readonly error: OAuthError
  readonly message: string
  readonly status: number
  readonly retry?: Headers
}

function describe(context: Pick<TransportContext, 'onError'>, thrown: unknown): Described {
  if (thrown instanceof OAuthRefusal) {
    const { error, message } = thrown
    return { error, message, status: error === 'invalid_client' ? 401 : 400 }
  }
  const failure = failureOf(context, thrown)
  const error = errors[failure.code] ?? 'server_error'
  const status = error === 'unauthorized_client' ? 400 : codes[failure.code].http
  return { error, message: failure.message, status, retry: retryHeaders(failure.details) }
}
