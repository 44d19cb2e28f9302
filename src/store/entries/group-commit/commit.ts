import type { Kysely } from 'kysely'
import { chunksOf } from '../../../common/chunks.ts'
import { currentRevision, nextCounters } from '../../sql/counter.ts'
import {
  type AuditTable,
  type ChangeTable,
  type EntryTable,
  maxRowsPerStatement,
  type Tables,
  type VersionTable,
} from '../../sql/tables.ts'
import type { AuditAction, StoredEntry } from '../../store.ts'
import { actorKey, difference } from '../audit.ts'
import { skeletonOf } from '../confusables.ts'
import { contentDigest, isListed, versionRow } from '../version-content.ts'

/** What stood there, where something did and can be read, and whether everybody saw it. */
export interface Known {
  readonly entry?: StoredEntry
  readonly listed: boolean
}

/** An entry as it is to be. */
export interface Put {
  readonly before: Known
  readonly entry: StoredEntry
  readonly deed: AuditAction
}

interface Committed {
  /** The last revision then. */
  readonly revision: number
  /** As they were written, in the order of their revisions, which follow one another. */
  readonly rows: readonly EntryTable[]
}

/** What was done to an entry without changing it. */
export interface Done {
  readonly entry_id: string
  readonly deed: AuditAction
}

type Event = Omit<AuditTable, 'id' | 'at'>

/**
 * Writes entries, each once, and gives each the next revision and its place in the logs. The counters
 * are taken as late as can be, so that their lock is held for little more than a commit. `standing`: the rows lie there,
 * but for their revisions.
 */
export async function commitPuts(
  transaction: Kysely<Tables>,
  puts: readonly Put[],
  done: readonly Done[],
  at: string,
  { standing = false } = {},
): Promise<Committed> {
  const isVersion = await Promise.all(puts.map((put) => isNewVersion(transaction, put)))
  const changed = puts.map(({ before, entry }) => difference(before.entry, entry))
  const events = done.map(({ entry_id, deed }) =>
    toEvent(entry_id, deed, null, { before: null, after: null }),
  )
  const audited = events.length + changed.filter((one) => one !== undefined).length
  if (puts.length + audited === 0) return { revision: await currentRevision(transaction), rows: [] }
  const { revision: last, audit } = await nextCounters(transaction, { revision: puts.length, audit: audited })
  const entries: EntryTable[] = []
  const changes: ChangeTable[] = []
  const versions: VersionTable[] = []
  let revision = last - puts.length
  for (const [index, { before, entry, deed }] of puts.entries()) {
    revision += 1
    entries.push(toRow({ ...entry, revision }))
    const kind = entry.deleted ? ('delete' as const) : ('put' as const)
    const seen = isListed(entry) ? 'listed' : before.listed ? 'gone' : 'unseen'
    changes.push({ revision, entry_id: entry.id, kind, at, seen })
    if (isVersion[index]) versions.push(versionRow(entry, revision, at))
    const fields = changed[index]
    if (fields) events.push(toEvent(entry.id, deed, revision, fields))
  }
  for (const chunk of chunksOf(entries, maxRowsPerStatement))
    await upsert(transaction, chunk, standing ? numbered : columns)
  for (const chunk of chunksOf(changes, maxRowsPerStatement))
    await transaction.insertInto('change').values(chunk).execute()
  for (const chunk of chunksOf(versions, maxRowsPerStatement))
    await transaction.insertInto('version').values(chunk).execute()
  const audits = events.map((event, index) => ({ ...event, id: audit - audited + index + 1, at }))
  for (const chunk of chunksOf(audits, maxRowsPerStatement))
    await transaction.insertInto('audit').values(chunk).execute()
  return { revision: last, rows: entries }
}

/** Whether everybody sees from now on what they saw in no version before. */
async function isNewVersion(transaction: Kysely<Tables>, { before, entry }: Put): Promise<boolean> {
  if (!isListed(entry)) return false
  if (!before.entry) return true
  const digest = contentDigest(entry)
  if (isListed(before.entry) && contentDigest(before.entry) === digest) return false
  const last = await transaction
    .selectFrom('version')
    .select('sha256')
    .where('entry_id', '=', entry.id)
    .where('revision', '>', entry.versions_after)
    .orderBy('revision', 'desc')
    .executeTakeFirst()
  return last?.sha256 !== digest
}

function toEvent(
  entry_id: string,
  { actor, action, reason = null }: { actor: AuditAction['actor']; action: string; reason?: string | null },
  revision: number | null,
  { before, after }: { before: object | null; after: object | null },
): Event {
  return {
    entry_id,
    revision,
    action,
    actor: actorKey(actor),
    reason,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  }
}

const columns = [
  'package_name',
  'owner',
  'owner_namespace',
  'proved_namespace',
  'skeleton',
  'check_at',
  'listed',
  'revision',
  'document',
] as const satisfies (keyof EntryTable)[]

/** What the revision changes of a row that lies there already. */
const numbered = ['revision', 'document'] as const

/** Inserts, or replaces these columns by id. */
export async function upsert(
  transaction: Kysely<Tables>,
  rows: readonly EntryTable[],
  replaced: readonly (typeof columns)[number][] = columns,
): Promise<void> {
  await transaction
    .insertInto('entry')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((row) =>
          Object.fromEntries(replaced.map((name) => [name, row.ref(`excluded.${name}`)])),
        ),
    )
    .execute()
}

/** An entry as its row has it. */
export function toRow(entry: StoredEntry): EntryTable {
  const { id, package_name, owner, proof, verification_level, check_at, deleted, revision } = entry
  const isProved = owner && proof && verification_level === 'domain_verified' && !deleted
  return {
    id,
    package_name,
    owner: actorKey(owner),
    owner_namespace: owner?.namespace ?? null,
    proved_namespace: isProved ? proof.domain.split('.').reverse().join('.') : null,
    skeleton: skeletonOf(package_name),
    check_at: deleted ? null : check_at,
    listed: isListed(entry) ? 1 : 0,
    revision,
    document: JSON.stringify(entry),
  }
}
