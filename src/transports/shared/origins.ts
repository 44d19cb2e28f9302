import { isLoopback } from './hosts.ts'

/**
 * Which web origins may open a socket or call MCP (DNS rebinding and foreign pages: MCP requires it): pages
 * served from loopback while we listen there, our own address, and what the operator allows.
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
