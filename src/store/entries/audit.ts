import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { AuditEvent, RegistryEvent } from '../../../schemas/audit.ts'
import type { Actor } from '../../../schemas/trust.ts'
import { principalKey, principalOf } from '../../common/principal-key.ts'
import type { AuditTable, Database } from '../sql/tables.ts'
import type { StoredEntry } from '../stored-entry.ts'

/** The fields that a change altered, before and after it. */
interface Difference {
  readonly before: Record<string, unknown> | null
  readonly after: Record<string, unknown>
}

/** Fields that every change alters, hashes of other fields, and times of checks. */
const unloggedFields = new Set(['revision', 'updated_at', 'card', 'check_at', 'access'])

/** The fields that differ; undefined if only unlogged fields differ. */
export function difference(before: StoredEntry | undefined, after: StoredEntry): Difference | undefined {
  const [was, is] = [before ? loggedEntry(before) : {}, loggedEntry(after)]
  const changed = Object.keys(is).filter((key) => !isDeepStrictEqual(was[key], is[key]))
  if (changed.length === 0) return undefined
  const pick = (from: Record<string, unknown>) =>
    Object.fromEntries(changed.map((key) => [key, truncated(from[key])]))
  return { before: before ? pick(was) : null, after: pick(is) }
}

/** In characters of JSON; enough for names and descriptions. */
const maxLoggedCharacters = 4000

/** A value too long for the log is replaced by its length and its SHA-256 in hex. */
function truncated(value: unknown): unknown {
  const text = JSON.stringify(value) ?? ''
  if (text.length <= maxLoggedCharacters) return value
  return { characters: text.length, sha256: hash('sha256', text, 'hex') }
}

/** The logged fields of an entry, without times of checks: a check without a finding is not logged. */
function loggedEntry({ manifest, reading, proof, ...entry }: StoredEntry): Record<string, unknown> {
  const loggedFields = Object.entries(entry).filter(([key]) => !unloggedFields.has(key))
  return {
    ...Object.fromEntries(loggedFields),
    manifest: manifest && { ...manifest, checked_at: undefined },
    reading: reading && { ...reading, checked_at: undefined },
    proof: proof && { ...proof, checked_at: undefined },
  }
}

export function actorKey(actor: Actor): string | null {
  return actor && principalKey(actor)
}

export function toActor(key: string | null): Actor {
  return key === null ? null : principalOf(key)
}

/** Newest first. */
export async function auditOf(
  db: Database,
  entryId: string,
  limit: number,
  before?: number,
  action?: string,
): Promise<AuditEvent[]> {
  const all = db.selectFrom('audit').selectAll().where('entry_id', '=', entryId)
  const older = before === undefined ? all : all.where('id', '<', before)
  const chosen = action === undefined ? older : older.where('action', '=', action)
  const rows = await chosen.orderBy('id', 'desc').limit(limit).execute()
  return rows.map(toEvent)
}

/** The events of all entries, newest first, with the names of those that still exist. */
export async function auditOfAll(
  db: Database,
  limit: number,
  before?: number,
  action?: string,
): Promise<RegistryEvent[]> {
  const all = db
    .selectFrom('audit')
    .leftJoin('entry', 'entry.id', 'audit.entry_id')
    .selectAll('audit')
    .select('entry.package_name')
  const older = before === undefined ? all : all.where('audit.id', '<', before)
  const chosen = action === undefined ? older : older.where('audit.action', '=', action)
  const rows = await chosen.orderBy('audit.id', 'desc').limit(limit).execute()
  return rows.map(({ package_name, ...row }) => ({ ...toEvent(row), agent: row.entry_id, package_name }))
}

/** Who did an action last, by entry. */
export async function lastActors(
  db: Database,
  entryIds: readonly string[],
  action: string,
): Promise<Map<string, Actor>> {
  if (entryIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('audit')
    .select(['entry_id', 'actor'])
    .where('entry_id', 'in', entryIds)
    .where('action', '=', action)
    .orderBy('id')
    .execute()
  return new Map(rows.map(({ entry_id, actor }) => [entry_id, toActor(actor)]))
}

function toEvent({ entry_id: _, actor, before, after, ...row }: AuditTable): AuditEvent {
  return {
    ...row,
    actor: toActor(actor),
    before: before && JSON.parse(before),
    after: after && JSON.parse(after),
  }
}
