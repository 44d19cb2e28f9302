import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { isLoopback } from '../../common/loopback.ts'

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
 * The web origins that may open a socket, send an envelope or JSON-RPC, or call MCP. MCP requires this check against
 * DNS rebinding. Accepted are the gateway's own address, every loopback name of it if the gateway is on loopback, and
 * the origins that the operator allows. A page on another port of the machine is a page of somebody else.
 */
export function originRule(baseUrl: string, allowed: readonly string[]): AllowsOrigin {
  const own = new URL(baseUrl)
  return (origin) => {
    if (!URL.canParse(origin)) return false
    const { hostname, protocol, port, origin: normal } = new URL(origin)
    if (normal === own.origin || allowed.includes(normal)) return true
    const isSamePort = protocol === own.protocol && port === own.port
    return isSamePort && isLoopback(own.hostname) && isLoopback(hostname)
  }
}
