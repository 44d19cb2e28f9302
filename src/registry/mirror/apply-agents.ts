import type { AuditAction } from '../../../schemas/audit.ts'
import type { MirroredItem } from '../../../schemas/mirror.ts'
import type { Origin } from '../../../schemas/origin.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { Writer } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { newEntry, tooLarge, updatedEntry } from '../import/imported-entry.ts'
import type { Facts } from '../import/read-line.ts'
import type { AgentItem, Rejection } from './source-items.ts'

/** Where agents come from, and when they are written. */
export interface ApplyContext {
  /** Name of the mirror. */
  readonly source: string
  readonly origin: Omit<Origin, 'name' | 'removed'>
  /** The time of the writing: RFC 3339, and sortable. */
  readonly at: string
  readonly time: string
  /** Whether only the latest version of each name is listed. */
  readonly latest_only: boolean
  readonly createId: () => string
  readonly audit: AuditAction
}

type Outcome = 'created' | 'updated' | 'unchanged' | 'removed'

/** What became of the agents of a page. */
export type Applied = Record<Outcome, number> & {
  readonly rejected: Rejection[]
  readonly found: MirroredItem[]
}

export function nothingApplied(): Applied {
  return { created: 0, updated: 0, unchanged: 0, removed: 0, rejected: [], found: [] }
}

/** An entry that was written, and whether the public sees it. */
export interface PutEntry {
  readonly id: string
  readonly outcome: Outcome
  readonly is_listed: boolean
}

/** An agent as its source states it. */
interface Statement {
  /** Its key at the source. */
  readonly key: string
  readonly facts: Facts
  readonly deprecated: StoredEntry['deprecated']
}

/** Writes agents of a source that knows no versions. */
export async function applyAgents(
  writer: Writer,
  context: ApplyContext,
  items: readonly AgentItem[],
): Promise<Applied> {
  const applied = nothingApplied()
  const byKey = new Map(items.map((item) => [item.key, item.facts]))
  const ids = await writer.mirrored(context.source, [...byKey.keys()])
  for (const [key, facts] of byKey) {
    const id = ids.get(key)
    const entry = id === undefined ? undefined : await writer.entry({ id })
    const put = await putAgent(writer, context, entry, { key, facts, deprecated: null })
    if (typeof put === 'string') {
      applied.rejected.push({ key, reason: put })
      continue
    }
    applied[put.outcome] += 1
    applied.found.push({ key, entry_id: put.id })
  }
  return applied
}

/**
 * Writes the entry of an agent. An entry that has an owner here keeps what its owner states. Returns the reason if the
 * agent cannot be listed.
 */
export async function putAgent(
  writer: Writer,
  context: ApplyContext,
  entry: StoredEntry | undefined,
  { key, facts, deprecated }: Statement,
): Promise<PutEntry | string> {
  const origin: Origin = { ...context.origin, name: key, removed: false }
  const stated = { ...facts, origin, deprecated }
  if (!entry) return await addAgent(writer, context, stated)
  if (entry.deleted) return `${entry.package_name} was deleted here.`
  const suspended = entry.origin?.removed ? null : entry.suspended
  const next = entry.owner
    ? { ...entry, origin, suspended }
    : updatedEntry(entry, { ...stated, package_name: entry.package_name, suspended }, context.at)
  if (!next) return tooLarge(entry.package_name)
  const isSame = next === entry || (entry.owner !== null && entry.origin?.removed === false)
  if (isSame) return { id: entry.id, outcome: 'unchanged', is_listed: isListed(entry) }
  await writer.put(next, context.audit)
  return { id: entry.id, outcome: 'updated', is_listed: isListed(next) }
}

/** A name that an agent of another source has gets the suffix `-2`, `-3` and so on; an owner's name stays its own. */
async function addAgent(
  writer: Writer,
  context: ApplyContext,
  stated: Facts & Pick<StoredEntry, 'origin' | 'deprecated'>,
): Promise<PutEntry | string> {
  const { package_name: name } = stated
  const owned = (await writer.lookalikes(name)).find(({ owner, hosted }) => owner || hosted)
  if (owned) return `The name ${name} looks like ${owned.package_name}, which has an owner here.`
  for (let number = 1; ; number++) {
    const package_name = number === 1 ? name : `${name}-${number}`
    const taken = await writer.entry({ package_name })
    if (taken?.owner || taken?.hosted) return `The name ${package_name} has an owner here.`
    if (taken) continue
    const entry = newEntry({ ...stated, package_name }, context.createId(), context.at)
    if (!entry) return tooLarge(package_name)
    await writer.put(entry, context.audit)
    return { id: entry.id, outcome: 'created', is_listed: true }
  }
}

/** Hides the entry of an agent that its source has removed, whoever owns it. */
export async function hideAgent(
  writer: Writer,
  { source, at, audit }: Pick<ApplyContext, 'source' | 'at' | 'audit'>,
  entry: StoredEntry,
  reason: string | null,
): Promise<PutEntry> {
  const { id, origin } = entry
  // A suspension by an admin outlasts the return of the agent.
  if (!origin || entry.suspended || entry.deleted)
    return { id, outcome: 'unchanged', is_listed: isListed(entry) }
  const suspended = {
    reason: [`Its source, ${source}, has removed it.`, reason].filter(Boolean).join(' '),
    at,
  }
  await writer.put({ ...entry, suspended, origin: { ...origin, removed: true }, updated_at: at }, audit)
  return { id, outcome: 'removed', is_listed: false }
}
