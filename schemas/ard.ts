import { derivedName } from './derived-name.ts'
import { isUnder } from './names.ts'

/**
 * Agentic Resource Discovery 0.91 (ARD): the identifiers and media types of catalogs of agents
 * (https://github.com/ards-project/ard-spec).
 */

export const serverCardType = 'application/mcp-server-card+json'
export const agentCardType = 'application/a2a-agent-card+json'
export const catalogType = 'application/ai-catalog+json'
export const registryType = 'application/ai-registry+json'

/** The media type of the cards of agents that are called by a protocol. */
export function typeOfProtocol(protocol: string): string {
  return protocol === 'mcp' ? serverCardType : agentCardType
}

const identifier = /^urn:air:([a-zA-Z0-9.-]+)((?::[a-zA-Z0-9._-]+)+)$/
const maxIdentifier = 500

/** The parts of an identifier: the publisher's domain, and the name below it. */
interface AirIdentifier {
  readonly publisher: string
  readonly names: readonly string[]
}

/** Undefined for a text that is not an identifier `urn:air:PUBLISHER:…:NAME`. */
export function readIdentifier(text: string): AirIdentifier | undefined {
  const [, publisher, path] = (text.length <= maxIdentifier && identifier.exec(text)) || []
  if (publisher === undefined || path === undefined) return undefined
  return { publisher: publisher.toLowerCase(), names: path.slice(1).split(':') }
}

/** What the identifier of an agent follows from. */
interface Identified {
  readonly package_name: string
  readonly verified_domain: string | null
  readonly origin: { readonly name: string } | null
}

/**
 * The identifier of an agent that is listed here. One that was mirrored keeps the identifier of its origin. Others have
 * their package name below their proved domain, or below the publisher of this registry; its slash is a colon.
 */
export function identifierOf(agent: Identified, own: string): string {
  const { package_name, verified_domain, origin } = agent
  if (verified_domain === null && origin && publishedBy(origin.name)) return origin.name
  return `urn:air:${verified_domain ?? own}:${package_name.replace('/', ':')}`
}

/** The publisher in the identifier of an agent; null if it is this registry. */
export function publisherIn({ verified_domain, origin }: Identified): string | null {
  return verified_domain ?? publishedBy(origin?.name ?? '')?.publisher ?? null
}

/** The parts of an identifier whose publisher is a domain; undefined for all others. */
export function publishedBy(text: string): AirIdentifier | undefined {
  const identifier = readIdentifier(text)
  return identifier && isDomain(identifier.publisher) ? identifier : undefined
}

/** The package names that an agent with this identifier may have here: its own, and that of a mirrored agent. */
export function packageNamesFor(identifier: AirIdentifier): string[] {
  const own = identifier.names.length <= 2 ? [identifier.names.join('/').toLowerCase()] : []
  return [...new Set([...own, mirroredName(identifier)])]
}

/**
 * The package name of a mirrored agent: the names below the publisher where they begin with its reversed domain, else
 * its reversed domain and the names.
 */
export function mirroredName({ publisher, names }: AirIdentifier): string {
  const reversed = publisher.split('.').reverse().join('.')
  const own = names.join('/').toLowerCase()
  return derivedName(isUnder(own, reversed) ? own : `${reversed}/${names.join('-')}`)
}

/** The identifier of a part of a registry itself. Package names have no third part, so it is never that of an agent. */
export function partIdentifier(publisher: string, part: 'registry' | 'catalog', name: string): string {
  return `urn:air:${publisher}:dragoman:${part}:${segment(name)}`
}

const domain = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i

/** True for a publisher that is a domain, as identifiers must have; clients refuse a page that has another. */
function isDomain(publisher: string): boolean {
  return domain.test(publisher)
}

/** The publisher that stands for a web address: its host, or a name below `localhost` for a host that is no domain. */
export function publisherOf(address: string): string {
  const { hostname = '', port = '' } = URL.parse(address) ?? {}
  if (isDomain(hostname)) return hostname
  const name = `${hostname}${port && `-${port}`}`.replaceAll(/[^a-zA-Z0-9]+/g, '-').replaceAll(/^-|-$/g, '')
  return `${name.slice(-63).replace(/^-/, '')}.localhost`
}

function segment(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9._-]+/g, '-') || 'none'
}

/** An entry of type `application/ai-registry+json`; `url` is the base of its API. */
export function registryEntry(url: string): Readonly<Record<string, string>> {
  const { host = '', pathname = '' } = URL.parse(url) ?? {}
  return {
    identifier: partIdentifier(publisherOf(url), 'registry', `${host}${pathname}`.replace(/\/+$/, '')),
    displayName: `${host}${pathname}`,
    type: registryType,
    url,
  }
}
