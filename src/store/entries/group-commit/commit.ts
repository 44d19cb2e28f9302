import type { AuditAction } from '../../../../schemas/audit.ts'
import { chunksOf } from '../../../common/chunks.ts'
import { addToCounters, currentRevision, lockCounters } from '../../sql/counter.ts'
import {
  type AuditTable,
  type ChangeTable,
  type Database,
  type EntryTable,
  maxRowsPerStatement,
  type VersionTable,
} from '../../sql/tables.ts'
import type { Finish, Statement } from '../../sql/transaction.ts'
import type { StoredEntry } from '../../stored-entry.ts'
import { actorKey, difference } from '../audit.ts'
import { lookalikeKey } from '../confusables.ts'
import { displayKey } from '../display-names.ts'
import { listServers } from '../server-rows.ts'
import { type Counted, countedOf, deltasOf, type UsageDelta, usageStatements } from '../usage.ts'
import { contentDigest, isListed, versionRow } from '../version-content.ts'

/** The entry before a change, if it existed and can be read, whether it was public, and what was counted for it. */
export interface PreviousEntry {
  readonly entry?: StoredEntry
  readonly listed: boolean
  readonly counted: Counted
}

/** An entry to be written. */
export interface Put {
  readonly before: PreviousEntry
  readonly entry: StoredEntry
  readonly audit: AuditAction
  /** Whether the change creates a new public version, if that is known already. */
  readonly is_version?: boolean
}

/** An action on an entry that does not change it. */
export interface RecordedAction {
  readonly entry_id: string
  readonly audit: AuditAction
}

type Event = Omit<AuditTable, 'id' | 'at'>

/** The counters that a commit of entries increments. */
type LogCounters = Record<'revision' | 'audit', number>

/** Locks the counters until the commit: whoever has them writes the next changes of the log. */
export function lockLog(transaction: Database): Promise<LogCounters> {
  return lockCounters(transaction, ['revision', 'audit'])
}

interface CommitOptions {
  /** The rows are written already, without their revisions. */
  readonly inserted?: boolean
  /** The locked counters; by default they are locked as late as possible. */
  readonly counters?: LogCounters
}

/**
 * Writes entries, each once, with the next revisions, and logs them. It ends the transaction. Returns the last
 * revision after the commit.
 */
export async function commitPuts(
  transaction: Database,
  finish: Finish,
  puts: readonly Put[],
  done: readonly RecordedAction[],
  at: string,
  { inserted = false, counters }: CommitOptions = {},
): Promise<number> {
  const isVersion = await Promise.all(puts.map((put) => put.is_version ?? isNewVersion(transaction, put)))
  const changed = puts.map(({ before, entry }) => difference(before.entry, entry))
  const events = done.map(({ entry_id, audit }) =>
    toEvent(entry_id, audit, null, { before: null, after: null }),
  )
  const audited = events.length + changed.filter((fields) => fields !== undefined).length
  if (puts.length + audited === 0) {
    finish([], [])
    return counters?.revision ?? (await currentRevision(transaction))
  }
  const last = counters ?? (await lockLog(transaction))
  const entries: EntryTable[] = []
  const changes: ChangeTable[] = []
  const versions: VersionTable[] = []
  const deltas: UsageDelta[] = []
  let { revision } = last
  for (const [index, { before, entry, audit }] of puts.entries()) {
    revision += 1
    const row = toRow({ ...entry, revision })
    entries.push(row)
    deltas.push(...deltasOf(before.counted, row, isVersion[index] ?? false))
    const kind = entry.deleted ? ('delete' as const) : ('put' as const)
    const seen = isListed(entry) ? 'listed' : before.listed ? 'gone' : 'unseen'
    changes.push({ revision, entry_id: entry.id, kind, at, seen })
    if (isVersion[index]) versions.push(versionRow(entry, revision, at))
    const fields = changed[index]
    if (fields) events.push(toEvent(entry.id, audit, revision, fields))
  }
  const written = puts.map(({ before, entry }, index) => ({
    before,
    entry,
    revision: last.revision + index + 1,
    is_version: isVersion[index] ?? false,
  }))
  await listServers(transaction, written, at)
  const audits = events.map((event, index) => ({ ...event, id: last.audit + index + 1, at }))
  const replaced = inserted ? revisionColumns : columns
  const statements = [
    addToCounters(transaction, { revision: puts.length, audit: audited }),
    ...inChunks(entries, (rows) => upsert(transaction, rows, replaced)),
    ...inChunks(changes, (rows) => transaction.insertInto('change').values(rows)),
    ...inChunks(versions, (rows) => transaction.insertInto('version').values(rows)),
    ...inChunks(audits, (rows) => transaction.insertInto('audit').values(rows)),
    ...usageStatements(transaction, deltas, at),
  ]
  finish(statements, entries)
  return revision
}

function inChunks<Row>(rows: readonly Row[], toStatement: (rows: readonly Row[]) => Statement): Statement[] {
  return Array.from(chunksOf(rows, maxRowsPerStatement), toStatement)
}

/** True if the change creates a new public version. */
export async function isNewVersion(
  transaction: Database,
  { before, entry }: Pick<Put, 'before' | 'entry'>,
): Promise<boolean> {
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
  'offered_to',
  'display_key',
  'listed',
  'suspended_at',
  'suspended_by',
  'account',
  'staged',
  'bytes',
  'revision',
  'document',
] as const satisfies (keyof EntryTable)[]

/** The columns of a written row that its revision changes. */
const revisionColumns = ['revision', 'document'] as const

/** Inserts rows, or replaces these columns by id. */
export function upsert(
  transaction: Database,
  rows: readonly EntryTable[],
  replaced: readonly (typeof columns)[number][] = columns,
): Statement {
  return transaction
    .insertInto('entry')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((row) =>
          Object.fromEntries(replaced.map((name) => [name, row.ref(`excluded.${name}`)])),
        ),
    )
}

/** The row of an entry. */
export function toRow(entry: StoredEntry): EntryTable {
  const {
    id,
    package_name,
    owner,
    offer,
    proof,
    verification_level,
    check_at,
    deleted,
    revision,
    suspended,
  } = entry
  const document = JSON.stringify(entry)
  const isProved = owner && proof && verification_level === 'domain_verified' && !deleted
  return {
    id,
    package_name,
    owner: actorKey(owner),
    owner_namespace: owner?.namespace ?? null,
    proved_namespace: isProved ? proof.domain.split('.').reverse().join('.') : null,
    skeleton: lookalikeKey(package_name),
    check_at: deleted ? null : check_at,
    display_key: deleted || !owner ? null : displayKey(entry.name),
    offered_to: deleted || !offer ? null : actorKey(offer),
    listed: isListed(entry) ? 1 : 0,
    suspended_at: suspended?.at ?? null,
    suspended_by: suspended && (entry.origin?.removed ? 'source' : 'admin'),
    ...countedOf(entry, Buffer.byteLength(document) - String(revision).length),
    revision,
    document,
  }
}
