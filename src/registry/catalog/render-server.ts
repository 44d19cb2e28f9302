import type { SearchHit } from '../../../schemas/card.ts'
import { type ListedServer, officialKey, ownKey, type ServerVersion } from '../../../schemas/server.ts'
import type { Site } from '../../../schemas/site.ts'
import { shortTime } from '../../common/sortable-time.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { Store } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import type { Views } from '../entry/view.ts'
import { documentOf, schemaUrl } from './server-json.ts'

/** A version to show, and how well it fits a search. */
export interface ServerHit extends Partial<Pick<SearchHit, 'score' | 'match'>> {
  readonly row: ServerVersion
}

export type RenderServers = (hits: readonly ServerHit[]) => Promise<ListedServer[]>

/** Shows versions as the API of the MCP registry does, with what this registry found out of each agent. */
export function createServerRenderer(
  { read, versions }: Pick<Store, 'read' | 'versions'>,
  views: Views,
  site: () => Pick<Site, 'base_url'>,
): RenderServers {
  return async (hits) => {
    const entries = await read.entries([...new Set(hits.map(({ row }) => row.entry_id))])
    const byId = new Map(entries.map((entry) => [entry.id, entry]))
    return await Promise.all(hits.map((hit) => render(hit, byId.get(hit.row.entry_id))))
  }

  async function render(hit: ServerHit, entry: StoredEntry | undefined): Promise<ListedServer> {
    const { row } = hit
    const document = entry && isShown(row, entry) ? await documentAt(row, entry) : undefined
    // What its owner or an admin hid has no text any more; a mirror still learns that it is gone.
    if (!document || !entry) return { server: withdrawn(row), _meta: { [officialKey]: goneFacts(row) } }
    return {
      server: document as ListedServer['server'],
      _meta: { [officialKey]: statedFacts(row) ?? factsOf(row), [ownKey]: ownFacts(hit, entry) },
    }
  }

  async function documentAt(row: ServerVersion, entry: StoredEntry): Promise<object | undefined> {
    if (row.document) return row.document
    const content = isCurrent(row, entry) ? entry : await earlier(row, entry)
    if (!content) return undefined
    const speaksFor = entry.hosted || row.is_bridged
    return documentOf(
      { ...content, server: null },
      {
        name: row.server_name,
        version: row.version,
        ...(speaksFor && {
          bridge: `${site().base_url}/mcp/agents/${encodeURIComponent(entry.package_name)}`,
        }),
      },
    )
  }

  async function earlier(row: ServerVersion, entry: StoredEntry): Promise<StoredEntry | undefined> {
    if (row.revision === null) return undefined
    const reference = { revision: row.revision }
    const found = await versions.find(entry.id, entry.versions_after, reference)
    return found && { ...entry, ...found.content }
  }

  function ownFacts({ row, score, match }: ServerHit, entry: StoredEntry): Record<string, unknown> {
    const view = views.entry(entry, null)
    return {
      package_name: view.package_name,
      verification_level: view.verification_level,
      verified_domain: view.verified_domain,
      callable: view.callable,
      liveness: view.liveness.status,
      category: view.category,
      tags: view.tags,
      is_bridged: row.is_bridged,
      ...(view.origin && { origin: view.origin }),
      ...(score !== undefined && { score }),
      ...(match !== undefined && { match }),
    }
  }
}

/** What its origin deleted is shown to who asks for deleted versions, as the origin does. */
function isShown(row: ServerVersion, entry: StoredEntry): boolean {
  if (row.mirror !== null && row.status === 'deleted' && entry.origin?.removed) return true
  return row.is_listed && isListed(entry)
}

/** What the origin states; a version that was published here may be the latest one since. */
function statedFacts({ meta, is_latest }: ServerVersion): Record<string, unknown> | null {
  return meta && 'isLatest' in meta ? { ...meta, isLatest: is_latest } : meta
}

/** True if the entry still is what it was in this version. */
function isCurrent({ version, is_latest }: ServerVersion, entry: StoredEntry): boolean {
  return entry.version === null ? is_latest && version.startsWith('0.0.0-r.') : entry.version === version
}

function factsOf(row: ServerVersion): Record<string, unknown> {
  return {
    status: row.status,
    statusChangedAt: shortTime(row.status_changed_at),
    ...(row.status_message !== null && row.status !== 'active' && { statusMessage: row.status_message }),
    publishedAt: shortTime(row.published_at),
    updatedAt: shortTime(row.updated_at),
    isLatest: row.is_latest,
  }
}

function goneFacts(row: ServerVersion): Record<string, unknown> {
  return factsOf({ ...row, status: 'deleted', status_message: null })
}

function withdrawn({ server_name, version }: ServerVersion): ListedServer['server'] {
  return { $schema: schemaUrl, name: server_name, description: 'No longer listed.', version }
}
