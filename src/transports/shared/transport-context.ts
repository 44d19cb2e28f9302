import type { Agent } from '../../../schemas/action.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { type Authenticate, principalOf } from '../../auth/bearer.ts'
import type { Call, Router } from '../../router/call.ts'

/** The parts of the gateway that every transport uses. */
export interface TransportContext {
  readonly dispatch: Router['dispatch']
  readonly authenticate: Authenticate
  /** Counts a request that no action answers, as a read of its caller. Throws Failure `rate_limited`. */
  count(call: Call): Promise<void>
  /** The agents hosted here, for method names, tools and documents. */
  readonly agents: readonly Agent[]
  /** Addresses of proxies whose X-Forwarded-For is trusted. */
  readonly trusted_proxies: readonly string[]
  /** The gateway's public address, without a trailing slash. */
  readonly site: () => { readonly base_url: string }
  /** Calls the listener when agents are listed or unlisted; the returned function stops it. */
  onListed(listener: () => void): () => void
  /** Receives errors that callers get as `internal`. */
  onError(fault: unknown): void
}

/**
 * The caller; synchronous if the token is cached. A transport calls this before and after it reads a body, because
 * the token may be revoked while a slow body arrives. Throws Failure `unauthenticated`.
 */
export function authenticated(
  context: TransportContext,
  authorization: string | undefined,
): Principal | null | Promise<Principal> {
  return principalOf(authorization, context.authenticate)
}

/** Turns a thrown value into the Failure for the caller; an unexpected error is logged first. */
export function failureOf(context: Pick<TransportContext, 'onError'>, thrown: unknown): Failure {
  if (!(thrown instanceof Failure)) context.onError(thrown)
  return Failure.from(thrown)
}
