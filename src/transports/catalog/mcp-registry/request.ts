import { Failure } from '../../../../schemas/failure.ts'
import { presentFields } from '../../../../schemas/json.ts'

/** A read of the MCP registry's API: the action that answers it, and its input. */
export interface CatalogRead {
  readonly action: 'list_servers' | 'list_server_versions' | 'get_server'
  readonly params: Record<string, unknown>
}

/** The names of query parameters in the API, by the fields of the actions' input. */
export const queryNames = { query: 'search' } as Readonly<Record<string, string>>

/**
 * The read at a path below `/v0.1/`, without its query; undefined if there is none. A server name is one encoded
 * segment; two plain ones are accepted. Throws Failure `invalid_request` for a path that cannot be decoded.
 */
export function readAt(path: string, search: string): CatalogRead | undefined {
  const query = new URLSearchParams(search)
  if (path === 'servers') return { action: 'list_servers', params: listParams(query) }
  const place = nameIn(path)
  if (!place?.hasVersions) return undefined
  const { name, version } = place
  const deleted = flag(query.get('include_deleted'))
  const include_deleted = deleted === undefined ? {} : { include_deleted: deleted }
  return version === undefined
    ? { action: 'list_server_versions', params: { name, ...include_deleted } }
    : { action: 'get_server', params: { name, version, ...include_deleted } }
}

/**
 * The server and the version in `servers/NAME`, `servers/NAME/versions` and `servers/NAME/versions/VERSION`. Throws
 * Failure `invalid_request` for a path that cannot be decoded.
 */
export function nameIn(
  path: string,
): { readonly name: string; readonly version?: string; readonly hasVersions: boolean } | undefined {
  const [first, ...segments] = path.split('/').map(decode)
  if (first !== 'servers') return undefined
  const at = segments.indexOf('versions', 1)
  const names = at < 0 ? segments : segments.slice(0, at)
  const name = names.join('/')
  if (names.length < 1 || names.length > 2 || name === '') return undefined
  if (at < 0) return { name, hasVersions: false }
  const [version, ...rest] = segments.slice(at + 1)
  if (rest.length > 0) return undefined
  return { name, hasVersions: true, ...(version !== undefined && { version }) }
}

/** The read of a search by words and meaning; `search` or `q` states what is wanted. */
export function searchAt(search: string): CatalogRead {
  const query = new URLSearchParams(search)
  const { limit, cursor, bridged } = listParams(query)
  const intent = query.get('search') ?? query.get('q') ?? ''
  const stated = { query: intent, limit, cursor, bridged }
  return { action: 'list_servers', params: presentFields(cursor ? { ...stated, query: undefined } : stated) }
}

/** Empty parameters count as absent; unknown ones are ignored, as at the official registry. */
function listParams(query: URLSearchParams): Record<string, unknown> {
  const text = (name: string) => query.get(name)?.trim() || undefined
  const limit = text('limit')
  return presentFields({
    query: text('search'),
    limit: limit === undefined ? undefined : /^\d+$/.test(limit) ? Number(limit) : limit,
    cursor: text('cursor'),
    version: text('version'),
    // A plus that is not encoded arrives as a space.
    updated_since: text('updated_since')?.replace(' ', '+'),
    include_deleted: flag(query.get('include_deleted')),
    bridged: flag(query.get('bridged')),
  })
}

/** Text that is no truth value is left to the input's schema. */
function flag(text: string | null): unknown {
  if (text === null || text === '') return undefined
  if (/^(?:true|1)$/i.test(text)) return true
  return /^(?:false|0)$/i.test(text) ? false : text
}

function decode(segment: string): string {
  try {
    const text = decodeURIComponent(segment)
    if (!text.includes('\0')) return text
  } catch {}
  throw new Failure('invalid_request', 'The path is not percent-encoded UTF-8 without NUL.')
}
