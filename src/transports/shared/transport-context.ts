import type { Agent } from '../../../schemas/action.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { type Authenticate, principalOf } from '../../auth/bearer.ts'
import type { Router } from '../../router/call.ts'

/** What every transport is a view of. */
export interface TransportContext {
  readonly dispatch: Router['dispatch']
  readonly authenticate: Authenticate
  /** The agents hosted here, for method names, tools and documents. */
  readonly agents: readonly Agent[]
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  readonly trusted_proxies: readonly string[]
  /** Where callers reach the gateway, without a slash at the end. */
  readonly site: () => { readonly base_url: string }
  /** Hears that agents were listed or are listed no more, until what it gives back is called. */
  onListed(listener: () => void): () => void
  /** Hears of faults that no caller is told more of than that they happened. */
  onError(fault: unknown): void
}

/**
 * Who calls; synchronous when the token has been seen lately. A door asks before it reads a body and again after: a
 * body may take its time, and what was revoked meanwhile no longer holds. Throws Failure `unauthenticated`.
 */
export function authenticated(
  context: TransportContext,
  authorization: string | undefined,
): Principal | null | Promise<Principal> {
  return principalOf(authorization, context.authenticate)
}

/** What was thrown as the failure that a caller is told of; what nobody foresaw is logged first. */
export function failureOf(context: Pick<TransportContext, 'onError'>, thrown: unknown): Failure {
  if (!(thrown instanceof Failure)) context.onError(thrown)
  return Failure.from(thrown)
}
