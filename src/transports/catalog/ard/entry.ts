import {
  agentCardType,
  catalogType,
  identifierOf,
  partIdentifier,
  publisherOf,
  registryEntry,
  serverCardType,
} from '../../../../schemas/ard.ts'
import { shortened } from '../../../../schemas/brief.ts'
import type { Discovery } from '../../../../schemas/discovery.ts'
import type { Entry } from '../../../../schemas/entry.ts'
import type { Site } from '../../../../schemas/site.ts'

export type ArdEntry = Readonly<Record<string, unknown>>

const maxDescription = 500

/** An agent of this registry as an entry of ARD 0.91; `discovery` is left out where the client has not asked for it. */
export function ardEntry(entry: Entry, site: Site, discovery?: Discovery): ArdEntry {
  const isServer = entry.protocol === 'mcp'
  return {
    identifier: identifierOf(entry, publisherOf(site.base_url)),
    displayName: entry.name,
    type: isServer ? serverCardType : agentCardType,
    url: isServer ? serverCardUrl(site, entry) : agentCardUrl(site, entry),
    description: shortened(entry.description, maxDescription),
    ...(entry.tags.length > 0 && { tags: entry.tags }),
    ...(discovery && discovery.capabilities.length > 0 && { capabilities: discovery.capabilities }),
    ...(discovery && { representativeQueries: discovery.queries }),
    ...(entry.version !== null && { version: entry.version }),
    updatedAt: entry.updated_at,
    metadata: metadataOf(entry, site),
    ...(entry.verified_domain !== null && {
      trustManifest: trustManifest(entry, entry.verified_domain, site),
    }),
  }
}

/** The card of an MCP server, which names the address at this gateway. */
function serverCardUrl({ base_url }: Site, { package_name }: Entry): string {
  return `${base_url}/mcp/agents/${encodeURIComponent(package_name)}/server-card`
}

/** The publisher's own card of A2A, else the card for calls through this gateway. */
function agentCardUrl({ base_url, site_url }: Site, { package_name, manifest_url, protocol }: Entry): string {
  const isOurs = [base_url, site_url].some((ours) => manifest_url.startsWith(`${ours}/`))
  if (protocol === 'a2a' && !isOurs) return manifest_url
  return `${base_url}/a2a/v1/${encodeURIComponent(package_name)}/.well-known/agent-card.json`
}

/** What this registry knows of the agent, and where the agent comes from. */
function metadataOf(entry: Entry, site: Site): object {
  const { category, license, origin, source_url, content_flags } = entry
  return {
    packageName: entry.package_name,
    registryUrl: recordUrl(site, entry),
    verificationLevel: entry.verification_level,
    callable: entry.callable,
    liveness: entry.liveness.status,
    ...(entry.protocol !== null && { protocol: entry.protocol }),
    ...(category !== null && { category }),
    ...(license !== null && { license }),
    ...(origin && { origin: originOf(origin) }),
    ...(!origin && source_url !== null && { origin: { url: source_url } }),
    ...(content_flags.length > 0 && { contentFlags: content_flags }),
    ...(entry.deprecated && { deprecated: true }),
  }
}

/** Where an agent that another registry listed comes from, and on what terms; a file has no address. */
function originOf({ url, name, license, attribution, takedown }: NonNullable<Entry['origin']>): object {
  return {
    ...(url !== '' && { url }),
    name,
    ...(license !== null && { license }),
    ...(attribution !== null && { attribution }),
    ...(takedown !== null && { takedown }),
  }
}

function recordUrl({ base_url }: Site, { package_name }: Entry): string {
  return `${base_url}/public/agents/${encodeURIComponent(package_name)}`
}

/** Only facts that the registry has checked: control of the domain, the card as it was read, its signature. */
function trustManifest(entry: Entry, domain: string, site: Site): object {
  const uri = recordUrl(site, entry)
  const { signature, card_sha256, manifest_url } = entry
  return {
    identity: `https://${domain}`,
    identityType: 'https',
    attestations: [
      { type: 'DomainControl', uri },
      ...(signature === 'valid' ? [{ type: 'CardSignature', uri }] : []),
    ],
    ...(card_sha256 !== null && {
      provenance: [
        { relation: 'publishedFrom', sourceId: manifest_url, sourceDigest: `sha256:${card_sha256}` },
      ],
    }),
  }
}

/** This registry itself, as catalogs name it. */
export function ownRegistry({ base_url }: Pick<Site, 'base_url'>): ArdEntry {
  const url = `${base_url}/ard`
  return {
    ...registryEntry(url),
    identifier: partIdentifier(publisherOf(base_url), 'registry', 'ard'),
    displayName: 'Dragoman registry',
    description: 'Searches every agent and MCP server of this registry by natural-language intent.',
    representativeQueries: [
      'Find an agent that does this task.',
      'Which MCP servers can I call for this?',
      'Which agents are listed in this category?',
    ],
  }
}

/** The catalog of one category. */
export function categoryCatalog(
  { base_url }: Pick<Site, 'base_url'>,
  category: string,
  total: number,
): ArdEntry {
  return {
    identifier: partIdentifier(publisherOf(base_url), 'catalog', category),
    displayName: `Agents of the category ${category}`,
    type: catalogType,
    url: `${base_url}/ard/catalogs/${encodeURIComponent(category)}`,
    representativeQueries: [`Agents for ${category}`, `Which agents help with ${category}?`],
    metadata: { total },
  }
}
