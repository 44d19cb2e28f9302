import { z } from 'zod'
import { derivedName } from '../../../schemas/derived-name.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { officialKey, ServerStatus } from '../../../schemas/server.ts'
import { withoutHidden } from '../../../schemas/text.ts'
import { sortableTime } from '../../common/sortable-time.ts'
import { cut } from '../cards/manifest.ts'
import { fieldsOf, readServer, type ServerDocument, type ServerFields } from '../catalog/server-json.ts'
import { maxEntryBytes } from '../entry/entry-size.ts'
import { assertUnreserved } from '../entry/name-rules.ts'
import type { Facts } from '../import/read-line.ts'
import { reasonOf } from '../import/reason.ts'

/** A version of an agent as an MCP registry lists it. Times are sortable. */
export interface ServerItem {
  readonly kind: 'server'
  /** The name, which is the key of its agent. */
  readonly key: string
  readonly document: ServerDocument
  readonly fields: ServerFields
  /** What the registry states of the version, in its own form; null if it states nothing. */
  readonly meta: Readonly<Record<string, unknown>> | null
  readonly status: ServerStatus
  readonly status_message: string | null
  readonly status_changed_at: string | null
  readonly published_at: string | null
  readonly is_latest: boolean
}

/** An agent as another kind of source lists it, under a key of that source. */
export interface AgentItem {
  readonly kind: 'agent'
  readonly key: string
  readonly facts: Facts
}

export type SourceItem = ServerItem | AgentItem

export interface Rejection {
  readonly key: string
  readonly reason: string
}

const maxMessage = 500
/** Of a version as its source states it, in bytes of JSON: as much as an entry may have. */
const maxServerBytes = maxEntryBytes

const Time = z.string().refine((text) => sortableTime(text) !== undefined, 'An RFC 3339 time.')
const OfficialMeta = z.looseObject({
  status: ServerStatus,
  statusMessage: z.string().nullish(),
  statusChangedAt: Time.nullish(),
  publishedAt: Time,
  isLatest: z.boolean().default(false),
})
const Listed = z.looseObject({ server: z.unknown(), _meta: z.looseObject({}).nullish() })

/** Reads `{server, _meta}` as an MCP registry lists it. Throws ZodError or Failure. */
export function readServerItem(value: unknown): ServerItem {
  const { server, _meta } = Listed.parse(value)
  const bytes = Buffer.byteLength(JSON.stringify({ server, _meta }))
  if (bytes > maxServerBytes) {
    throw new Failure('too_large', `It has ${bytes} bytes; a version has at most ${maxServerBytes}.`)
  }
  const document = readServer(server)
  assertUnreserved(derivedName(document.name), document.name)
  const stated = _meta?.[officialKey]
  const meta = stated === undefined ? undefined : OfficialMeta.parse(stated)
  return {
    kind: 'server',
    key: document.name,
    document: server as ServerDocument,
    fields: fieldsOf(document),
    meta: meta ? (stated as Record<string, unknown>) : null,
    status: meta?.status ?? 'active',
    status_message: meta?.statusMessage ? cut(withoutHidden(meta.statusMessage), maxMessage) : null,
    status_changed_at: sortable(meta?.statusChangedAt),
    published_at: sortable(meta?.publishedAt),
    is_latest: meta?.isLatest ?? false,
  }
}

function sortable(text: string | null | undefined): string | null {
  return (text && sortableTime(text)) || null
}

/** Reads what a source lists, each value alone: one that cannot be listed does not hold up the others. */
export function readItems<Item extends SourceItem>(
  values: readonly unknown[],
  read: (value: unknown) => Item,
): { items: Item[]; rejected: Rejection[] } {
  const items: Item[] = []
  const rejected: Rejection[] = []
  for (const value of values) {
    try {
      items.push(read(value))
    } catch (fault) {
      rejected.push({ key: keyIn(value), reason: reasonOf(fault).slice(0, 500) })
    }
  }
  return { items, rejected }
}

/** The key of what may not be listed. PostgreSQL refuses NUL. */
export function keyOf(text: string): string {
  return text.replaceAll('\0', '') || 'unnamed'
}

/** What names a value that could not be read: its name first. */
function keyIn(value: unknown): string {
  const stated = isRecord(value) ? (value.server ?? value) : undefined
  const parts = isRecord(stated) ? [stated.name, stated.version] : []
  const text = parts.filter((part) => typeof part === 'string').join(' ')
  return keyOf(text.slice(0, 300))
}
