import { publisherIn } from '../../../schemas/ard.ts'
import { type IndexedField, indexedFields, mapFields } from '../../../schemas/entry-fields.ts'
import type { Capability } from '../../../schemas/entry-parts.ts'
import { isLive, type Liveness, unseen } from '../../../schemas/liveness.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { SearchDocument } from '../../search/search-index.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { callableOf } from '../entry/callable.ts'
import { identified, protocolOf } from '../entry/protocol.ts'
import { agentKeysOf, sourceOf } from '../entry/same-agent.ts'

/** The searchable form of an entry. */
export function toDocument(entry: StoredEntry, liveness: Liveness = unseen): SearchDocument {
  const { id, package_name, name, description, created_at, capabilities } = entry
  return {
    id,
    package_name,
    name,
    description,
    ...lowerCase(entry),
    state: entry.suspended ? 'SUSPENDED' : entry.state,
    owner: entry.owner && principalKey(entry.owner),
    created_at,
    capabilities: capabilities.map(titled),
    liveness: liveness.status,
    live: isLive(liveness.status),
    callable: callableOf(entry, liveness).callable,
    protocol: protocolOf(entry),
    publisher: publisherIn(identified(entry)),
    package_types: [...new Set(entry.packages.map(({ registry_type }) => registry_type.toLowerCase()))],
    verification_level: entry.verification_level,
    deprecated: entry.deprecated !== null,
    imitates_name: entry.content_flags.includes('imitates_name'),
    source: sourceOf(entry),
    agent_keys: agentKeysOf(entry),
  }
}

/** The title of a tool is searched as a part of its description. */
function titled({ name, title, description }: Capability): SearchDocument['capabilities'][number] {
  const isNews = title !== undefined && title !== name
  return { name, description: isNews ? `${title}. ${description}` : description }
}

/** Filters compare text without case, so the index has lower-case text. */
function lowerCase(entry: StoredEntry): Pick<SearchDocument, IndexedField> {
  return mapFields(indexedFields, (name) => {
    const value = entry[name]
    return Array.isArray(value) ? value.map((text) => text.toLowerCase()) : (value?.toLowerCase() ?? null)
  }) as Pick<SearchDocument, IndexedField>
}
