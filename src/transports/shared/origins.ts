import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { isLoopback } from './hosts.ts'

/** True if a page of this web origin may call the gateway. */
export type AllowsOrigin = (origin: string) => boolean

/**
 * Throws Failure `forbidden` for a request by a page of an origin that is not allowed. Clients other than browsers send
 * no origin.
 */
export function assertOrigin(
  { headers: { origin } }: Pick<IncomingMessage, 'headers'>,
  allowsOrigin: AllowsOrigin,
): void {
  if (origin === undefined || allowsOrigin(origin)) return
  throw new Failure('forbidden', `Pages of ${origin.slice(0, 100)} may not call this endpoint.`, {
    hint: 'The operator allows web origins with DRAGOMAN_ALLOWED_WEB_ORIGINS.',
  })
}

/**
 * The web origins that may open a socket, send an envelope or JSON-RPC, or call MCP. MCP requires this check against DNS rebinding. Accepted are
 * loopback pages if the gateway is on loopback, the gateway's own address, and the origins that the operator allows.
 */
export function originRule(baseUrl: string, allowed: readonly string[]): AllowsOrigin {
  const own = new URL(baseUrl)
  return (origin) => {
    if (!URL.canParse(origin)) return false
    const { hostname, origin: normal } = new URL(origin)
    if (normal === own.origin || allowed.includes(normal)) return true
    return isLoopback(own.hostname) && isLoopback(hostname)
  }
}
