import { isLoopback } from './hosts.ts'

/**
 * The web origins that may open a socket or call MCP. MCP requires this check against DNS rebinding. Accepted are
 * loopback pages if the gateway is on loopback, the gateway's own address, and the origins that the operator allows.
 */
export function originRule(baseUrl: string, allowed: readonly string[]): (origin: string) => boolean {
  const own = new URL(baseUrl)
  return (origin) => {
    if (!URL.canParse(origin)) return false
    const { hostname, origin: normal } = new URL(origin)
    if (normal === own.origin || allowed.includes(normal)) return true
    return isLoopback(own.hostname) && isLoopback(hostname)
  }
}
