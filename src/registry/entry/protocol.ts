import { calledEndpoint, endpointsOf } from '../../../schemas/callable.ts'
import type { Protocol } from '../../../schemas/entry-parts.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'

type Facts = Pick<
  StoredEntry,
  'hosted' | 'endpoints' | 'packages' | 'card' | 'manifest_url' | 'tags' | 'verification_level' | 'proof'
>

/**
 * The protocol by which an agent is called: that of the endpoint which the gateway calls, else of the first. Packages,
 * and lists of MCP servers without an address, are MCP servers; a card without an address is a card of A2A.
 */
export function protocolOf(entry: Facts): Protocol | null {
  const { hosted, packages, card, tags } = entry
  if (hosted) return 'a2a'
  const endpoint = calledEndpoint(entry) ?? endpointsOf(entry)[0]
  if (endpoint) return endpoint.protocol
  if (packages.length > 0 || tags.includes('mcp')) return 'mcp'
  return card === null ? null : 'a2a'
}

/** What the ARD identifier of an entry follows from. */
export function identified(entry: Facts & Pick<StoredEntry, 'package_name' | 'origin'>) {
  const { package_name, origin } = entry
  return { package_name, origin, verified_domain: verifiedDomainOf(entry) }
}

/** The domain that the owner has proved, or the gateway for its own agents. */
export function verifiedDomainOf({ verification_level, proof }: Facts): string | null {
  return verification_level === 'domain_verified' ? (proof?.domain ?? null) : null
}
