import type { Card } from '../../../schemas/card.ts'
import type { PublishedField } from '../../../schemas/entry-fields.ts'
import type { Endpoint } from '../../../schemas/entry-parts.ts'
import { addressOf, registryName } from '../../../schemas/names.ts'
import type { Site } from '../../../schemas/site.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { legacyFields } from './standard-card.ts'

/** The fields of an entry that its card shows. */
export type CardSource = Pick<StoredEntry, PublishedField | 'card' | 'hosted' | 'source_url' | 'deprecated'>

/**
 * The card of an entry. Returns the publisher's own card if it is stored, else a card in the registry's own form with
 * the standard A2A fields that do not collide; `rendered_by` names the gateway that rendered it.
 */
export function cardOf(stored: CardSource, site: Site): Record<string, unknown> {
  return stored.card ?? renderCard(stored, site)
}

function renderCard(stored: CardSource, site: Site): Card {
  const endpoints = endpointsOf(stored, site)
  const url = endpoints[0]?.url ?? stored.source_url
  return {
    agent_id: addressOf(stored.package_name),
    package_name: stored.package_name,
    name: stored.name,
    description: stored.description,
    ...(stored.version !== null && { version: stored.version }),
    ...(url && { url }),
    capabilities: stored.capabilities,
    skills: stored.capabilities.map(({ name, id = name, description }) => ({
      id,
      name,
      description,
      tags: stored.tags,
    })),
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    ...(endpoints.length > 0 && { endpoints }),
    ...(stored.packages.length > 0 && { packages: stored.packages }),
    ...(stored.deprecated && { deprecated: stored.deprecated }),
    // A client of A2A 0.3 that does not check the form of a card finds its address here.
    ...(stored.hosted
      ? { ...legacyFields(stored, site.base_url), ...security }
      : { rendered_by: addressOf(registryName) }),
  }
}

/** A hosted agent's endpoint is this gateway at its current address. */
export function endpointsOf(
  stored: Pick<StoredEntry, 'hosted' | 'endpoints'>,
  { base_url }: Site,
): Endpoint[] {
  if (!stored.hosted) return stored.endpoints
  return [
    { protocol: 'envelope', url: `${base_url}/a2a/message` },
    { protocol: 'mcp', url: `${base_url}/mcp` },
  ]
}

const security = {
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
}
