import type { SuspendedBy } from '../../../schemas/suspension.ts'
import type { Actor } from '../../../schemas/trust.ts'
import { chunksOf } from '../../common/chunks.ts'
import { withValue } from '../../common/eventual.ts'
import { principalKey } from '../../common/principal-key.ts'
import { currentRevision } from '../sql/counter.ts'
import { dueRows } from '../sql/due-rows.ts'
import { type Database, maxRowsPerStatement } from '../sql/tables.ts'
import type { Pass, Reader, Reference, SuspendedEntry, SuspensionPosition } from '../store.ts'
import type { StoredEntry } from '../stored-entry.ts'
import { auditOf, auditOfAll, lastActors } from './audit.ts'
import { type EntryCache, type EntryRow, type Loaded, toLoaded } from './entry-cache.ts'
import { createDecisionReads, parseEntry } from './group-commit/decision-reads.ts'

/** Checks whether cached entries are still current; each dialect has its own method. */
export interface Validity {
  /** Drops outdated entries. Called before each read; undefined if nothing has to be awaited. */
  settle(): Promise<void> | undefined
  /** Finds out what every process has committed up to now. */
  ask(): Promise<void>
  /** Changes whenever another process may have committed. */
  version(): number
}

/** Reads through the cache: a repeated read costs no SQL and returns the same object. */
export function createReader(db: Database, cache: EntryCache, validity: Validity): Reader {
  /** Reads, and caches the result only if no process committed during the read. */
  async function read<T>(work: () => Promise<T>, keep: (result: T) => void): Promise<T> {
    const before = validity.version()
    const result = await work()
    if (validity.version() === before) keep(result)
    return result
  }

  async function loadOne(reference: Reference): Promise<Loaded | undefined> {
    const row = await findRow(db, reference)
    return row && toLoaded(row)
  }

  async function readOne(reference: Reference, pass: Pass | undefined): Promise<StoredEntry | undefined> {
    const loaded = await read(
      () => loadOne(reference),
      (found) => found && !pass && cache.keep(found),
    )
    return loaded?.entry
  }

  async function load(missing: readonly string[]): Promise<Loaded[]> {
    const found: Loaded[] = []
    for (const chunk of chunksOf(missing, maxRowsPerStatement)) {
      const rows = await db.selectFrom('entry').select(['id', 'document']).where('id', 'in', chunk).execute()
      found.push(...rows.map(toLoaded))
    }
    return found
  }

  return {
    entry: (reference, pass) =>
      withValue(validity.settle(), () => cache.find(reference) ?? readOne(reference, pass)),
    async entries(ids, pass) {
      await validity.settle()
      const entries = new Map(ids.map((id) => [id, cache.find({ id })]))
      const missing = ids.filter((id) => !entries.get(id))
      if (missing.length > 0) {
        const found = await read(
          () => load(missing),
          (loaded) => !pass && loaded.forEach(cache.keep),
        )
        for (const { entry } of found) entries.set(entry.id, entry)
      }
      return ids.flatMap((id) => entries.get(id) ?? [])
    },
    due: (now, latest, limit) => dueIds(db, now, latest, limit),
    listedNames: (...query) => listedNames(db, ...query),
    audit: (...query) => auditOf(db, ...query),
    auditOfAll: (...query) => auditOfAll(db, ...query),
    claims: (namespaces) => createDecisionReads(db, { cached: false }).claims(namespaces),
    offers: (...query) => offeredEntries(db, ...query),
    suspended: (...query) => suspendedEntries(db, ...query),
    revision,
    async latest() {
      await validity.ask()
      return await revision()
    },
  }

  async function revision(): Promise<number> {
    await validity.settle()
    if (cache.revision !== undefined) return cache.revision
    return await read(
      () => currentRevision(db),
      (now) => {
        cache.revision = now
      },
    )
  }
}

async function findRow(db: Database, reference: Reference): Promise<EntryRow | undefined> {
  const select = db.selectFrom('entry').select(['id', 'document'])
  const query =
    'id' in reference
      ? select.where('id', '=', reference.id)
      : select.where('package_name', '=', reference.package_name)
  return await query.executeTakeFirst()
}

async function dueIds(db: Database, now: string, latest: string, limit: number): Promise<string[]> {
  const rows = await dueRows(now, latest, limit, (operator, time, count) =>
    db
      .selectFrom('entry')
      .select('id')
      .where('check_at', operator, time)
      .orderBy('check_at')
      .limit(count)
      .execute(),
  )
  return rows.map((row) => row.id)
}

async function offeredEntries(
  db: Database,
  side: 'made' | 'received',
  party: NonNullable<Actor>,
  limit: number,
  after = '',
): Promise<StoredEntry[]> {
  const rows = await db
    .selectFrom('entry')
    .select(['id', 'document'])
    .where('offered_to', 'is not', null)
    .where(side === 'made' ? 'owner' : 'offered_to', '=', principalKey(party))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(parseEntry)
}

async function suspendedEntries(
  db: Database,
  by: SuspendedBy,
  limit: number,
  before?: SuspensionPosition,
): Promise<SuspendedEntry[]> {
  const all = db.selectFrom('entry').select(['id', 'suspended_at', 'document']).where('suspended_by', '=', by)
  const older = before
    ? all.where((row) => row(row.refTuple('suspended_at', 'id'), '<', row.tuple(before.at, before.id)))
    : all
  const rows = await older.orderBy('suspended_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
  const ids = by === 'admin' ? rows.map(({ id }) => id) : []
  const actors = await lastActors(db, ids, 'suspend')
  return rows.map((row) => ({
    entry: parseEntry(row),
    position: { at: row.suspended_at ?? '', id: row.id },
    by: actors.get(row.id) ?? null,
  }))
}

async function listedNames(db: Database, prefix: string, limit: number, after = ''): Promise<string[]> {
  const rows = await db
    .selectFrom('entry')
    .select('package_name')
    .where('package_name', '>=', prefix)
    .where('package_name', '>', after)
    .where('package_name', '<', `${prefix}\u{10ffff}`)
    .where('listed', '=', 1)
    .orderBy('package_name')
    .limit(limit)
    .execute()
  return rows.map((row) => row.package_name)
}
