import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Azure's host agent (wire server): routed inside every Azure network although its range is public. */
const azureHost = '168.63.129.16'

/**
 * True for a literal IP address that is globally reachable: addresses of IANA's special-purpose registries (RFC 6890),
 * of tunnels that lead to an IPv4 address in a private network (ISATAP, RFC 5214), and IPv6 outside 2000::/3 are not.
 * An IPv4-mapped address counts as its IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  if (parsed instanceof ipaddr.IPv6) return isGlobal(parsed) && !isIsatap(parsed)
  return parsed.toString() !== azureHost
}

function isGlobal({ parts: [first = 0] }: ipaddr.IPv6): boolean {
  return (first & 0xe000) === 0x2000
}

/** Of the fifth part, one bit says whether the IPv4 address is unique in the world. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe
}

/** The host of a URL without brackets and trailing dots, so that `[::1]` and `localhost.` compare. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')
}

/** Suffixes with a meaning only inside a private network (RFC 6761, 6762, 7686, 8375, ICANN's .internal). */
const localSuffixes = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'onion',
]

/** True for a host name without a dot, or under a suffix that no public name has. */
export function isLocalName(name: string): boolean {
  if (!name.includes('.')) return true
  return localSuffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
}
