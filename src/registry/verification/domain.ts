import { parse } from 'tldts'
import { bareHost, isLocalName } from '../../net/fetch/address.ts'

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const maxDomainLength = 253

/**
 * The domains that the owner of a package name may prove, longest first: all or the first segments before the slash,
 * reversed (`com.example.weather` → `weather.example.com`, `example.com`). Public suffixes (`co.uk`,
 * `github.io`), addresses and names of a private network are excluded.
 */
export function provableDomains(packageName: string): readonly string[] {
  const [namespace = ''] = packageName.split('/', 1)
  const segments = namespace.split('.')
  return segments
    .map((_, index) =>
      segments
        .slice(0, segments.length - index)
        .reverse()
        .join('.'),
    )
    .filter(isProvable)
}

/**
 * True for an ASCII domain that one party can hold: a registrable domain (public suffix and a label; private suffixes
 * of https://publicsuffix.org count, since unrelated parties share them) or a domain below it.
 */
export function isProvable(domain: string): boolean {
  if (domain.length > maxDomainLength || !domain.split('.').every((part) => label.test(part))) return false
  const { domain: registrable, isIcann, isPrivate } = parse(domain, { allowPrivateDomains: true })
  return registrable !== null && (isIcann === true || isPrivate === true) && !isLocalName(domain)
}

/** True if the host is the domain or below it. */
function isUnder(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}

interface Claim {
  readonly package_name: string
  readonly manifest_url: string
  /** The domain that the owner asks to prove. */
  readonly domain?: string | undefined
}

/** The domain to prove, or the reason why there is none, as a message for the owner. */
export type Agreement =
  | { readonly domain: string; readonly reason: null }
  | { readonly domain: null; readonly reason: string }

/**
 * The domain on which a package name and the host of its manifest agree: the requested one if it fits, else the
 * longest one that covers the host.
 */
export function agreement({ package_name, manifest_url, domain }: Claim): Agreement {
  const candidates = provableDomains(package_name)
  const registrable = candidates.at(-1)
  if (registrable === undefined) {
    return refusal(
      `The name ${package_name} names no domain that can be proved. A name such as com.example.weather belongs to example.com; a public suffix such as github.io has no single owner.`,
    )
  }
  const requested = domain?.toLowerCase().replace(/\.$/, '')
  if (requested !== undefined && !candidates.includes(requested)) {
    return refusal(
      `The name ${package_name} can prove ${candidates.join(' or ')}, not ${requested.slice(0, maxDomainLength)}. International names are written in ASCII (xn--…).`,
    )
  }
  const host = URL.canParse(manifest_url) ? bareHost(new URL(manifest_url).hostname) : ''
  const chosen = requested ?? candidates.find((candidate) => isUnder(host, candidate)) ?? registrable
  if (isUnder(host, chosen)) return { domain: chosen, reason: null }
  return refusal(
    `Its manifest or source is at ${host || 'no host'}, which is neither ${chosen} nor below it. Serve the manifest there, or choose a name that belongs to its host.`,
  )
}

function refusal(reason: string): Agreement {
  return { domain: null, reason }
}
