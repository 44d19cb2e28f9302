import type { Agent } from '../../../schemas/action.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal, ResourcePath } from '../../../schemas/scope.ts'
import type { Authenticate } from '../../auth/authenticator.ts'
import { principalOf } from '../../auth/bearer.ts'
import type { Standing } from '../../auth/standing.ts'
import type { AddressSet } from '../../common/address-set.ts'
import type { OnChange } from '../../common/paced.ts'
import type { Call, Router } from '../../router/call.ts'
import type { Limiter } from '../../router/limiter.ts'

/** The parts of the gateway that every transport uses. */
export interface TransportContext {
  readonly dispatch: Router['dispatch']
  readonly authenticate: Authenticate
  /** Ends the streams and sockets of callers whose token ends. */
  readonly standing: Pick<Standing, 'watch'>
  /** Counts a request that no action answers, as a read of its caller. Throws Failure `rate_limited`. */
  count(call: Call): Promise<void>
  /** What requests cost their callers, and the checks of unknown tokens. */
  readonly limits: Pick<Limiter, 'overCost' | 'charge' | 'countToken'>
  /** The agents hosted here, for method names, tools and documents. */
  readonly agents: readonly Agent[]
  /** Names of the hosted agents that lack a setting: each of their actions answers `not_configured`. */
  readonly unconfigured?: readonly string[]
  /** Names of the MCP tools that are listed, or of their agents; all when absent or empty. */
  readonly mcp_tools?: readonly string[]
  /** Addresses of proxies whose X-Forwarded-For is trusted. */
  readonly trusted_proxies: AddressSet
  /** The gateway's public address, without a trailing slash. */
  readonly site: () => { readonly base_url: string }
  /** Calls the listener when agents are listed or unlisted; the returned function stops it. */
  readonly onListed: OnChange
  /** Receives errors that callers get as `internal`. */
  onError(fault: unknown): void
}

/**
 * The caller of a call; synchronous if the token is cached. Counts unknown tokens against the client's address. Throws
 * Failure `unauthenticated`, and `rate_limited` if the caller's requests have cost too much.
 */
export function authenticated(
  { authenticate, limits }: Pick<TransportContext, 'authenticate' | 'limits'>,
  authorization: string | undefined,
  client: Call['client'],
  resource: ResourcePath,
  requestId?: string,
): Principal | null | Promise<Principal> {
  const principal = principalOf(
    authorization,
    (token) => authenticate(token, () => limits.countToken(client), requestId),
    resource,
  )
  return principal instanceof Promise ? principal.then(withinCost) : withinCost(principal)

  function withinCost<Caller extends Principal | null>(caller: Caller): Caller {
    const failure = limits.overCost({ principal: caller, client })
    if (failure) throw failure
    return caller
  }
}

/** Turns a thrown value into the Failure for the caller; an unexpected error is logged first. */
export function failureOf(context: Pick<TransportContext, 'onError'>, thrown: unknown): Failure {
  if (!(thrown instanceof Failure)) context.onError(thrown)
  return Failure.from(thrown)
}
