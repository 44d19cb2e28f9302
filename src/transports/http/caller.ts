import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalOf } from '../../auth/bearer.ts'
import { resourceAt } from '../../auth/resources.ts'
import { costs, type LimitedCaller } from '../../router/limiter.ts'
import { clientOf } from '../shared/client-address.ts'
import { authenticated, type TransportContext } from '../shared/transport-context.ts'
import { requestId } from './request-id.ts'

/** The callers of the requests in progress, where a token was valid. */
const signedIn = new WeakMap<IncomingMessage, LimitedCaller>()
/** The bytes of each connection that are charged already. */
const charged = new WeakMap<Socket, { received: number; sent: number }>()

/**
 * The caller of a request; synchronous if the token is cached. A transport calls this before and after it reads a body,
 * because the token may be revoked while a slow body arrives. Throws Failure `unauthenticated` and `rate_limited`.
 */
export function identify(
  context: TransportContext,
  request: IncomingMessage,
): Principal | null | Promise<Principal> {
  const client = clientOf(context, request)
  const { authorization } = request.headers
  const resource = resourceAt(request.url)
  const principal = authenticated(context, authorization, client, resource, requestId(request))
  if (principal === null) return null
  if (!(principal instanceof Promise)) {
    signedIn.set(request, { principal, client })
    return principal
  }
  return principal.then((valid) => {
    signedIn.set(request, { principal: valid, client })
    return valid
  })
}

/** The caller of a request that was admitted before, checked again. Throws Failure `unauthenticated`. */
export function checkedCaller(
  { authenticate }: Pick<TransportContext, 'authenticate'>,
  { headers, url }: IncomingMessage,
): Principal | null | Promise<Principal> {
  return principalOf(headers.authorization, authenticate, resourceAt(url))
}

/** Calls `end` when the token of the caller of an admitted request ends, unless the response has closed before. */
export function whileStanding(
  { standing }: Pick<TransportContext, 'standing'>,
  request: IncomingMessage,
  response: ServerResponse,
  end: (reason: Failure) => void,
): void {
  response.once('close', standing.watch(signedIn.get(request)?.principal ?? null, end))
}

/** The Failure for a request to a document, which needs no token, from an address whose requests have cost too much. */
export function overCost(
  context: Pick<TransportContext, 'limits' | 'trusted_proxies'>,
  request: IncomingMessage,
): Failure | undefined {
  return context.limits.overCost({ principal: null, client: clientOf(context, request) })
}

/** True if the token of the request was valid. */
export function isSignedIn(request: IncomingMessage): boolean {
  return signedIn.has(request)
}

/** Charges a request to its caller when it has been answered, by the bytes of both. */
export function chargeAtEnd(
  context: Pick<TransportContext, 'limits' | 'trusted_proxies'>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { socket } = request
  let units: number = costs.request
  /** The bytes of an answer count when they are handed to the socket, not when the peer has read them. */
  function charge(): void {
    const caller = signedIn.get(request) ?? { principal: null, client: clientOf(context, request) }
    const { received, sent } = charged.get(socket) ?? { received: 0, sent: 0 }
    const { bytesRead, bytesWritten } = socket
    charged.set(socket, { received: bytesRead, sent: bytesWritten })
    units += (bytesRead - received) * costs.receivedByte + (bytesWritten - sent) * costs.sentByte
    context.limits.charge(caller, units)
    units = 0
  }
  response.once('prefinish', charge)
  response.once('close', charge)
}
