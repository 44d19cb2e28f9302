import type { Kysely } from 'kysely'
import { actorKey, difference, toActor } from './audit.ts'
import { takeNumbers } from './counter.ts'
import { skeletonOf } from './skeleton.ts'
import { slices } from './slices.ts'
import { type Claim, type Deed, type Reference, StoredEntry, UnreadableEntry, type Writer } from './store.ts'
import type { AuditTable, ChangeTable, EntryTable, Tables } from './tables.ts'

type Event = Omit<AuditTable, 'id' | 'at'>

const byGateway: Deed = { actor: null, action: 'write' }

/**
 * The writer of one transaction, in either dialect. `commit` gives each touched entry the next revision and
 * logs it; the counters are taken there, last, so that their lock is held no longer than a commit.
 */
export function createWriter(
  transaction: Kysely<Tables>,
  clock: () => number,
): { writer: Writer; commit: () => Promise<number> } {
  const touched = new Map<string, { before: StoredEntry | undefined; entry: StoredEntry; deed: Deed }>()
  const recorded: Event[] = []

  async function commit(): Promise<number> {
    const at = new Date(clock()).toISOString()
    const last =
      touched.size > 0
        ? await takeNumbers(transaction, 'revision', touched.size)
        : await currentRevision(transaction)
    let revision = last - touched.size
    const changes: ChangeTable[] = []
    for (const { before, entry, deed } of touched.values()) {
      revision += 1
      const document = JSON.stringify({ ...entry, revision })
      await transaction.updateTable('entry').set({ revision, document }).where('id', '=', entry.id).execute()
      const kind = entry.deleted ? ('delete' as const) : ('put' as const)
      changes.push({ revision, entry_id: entry.id, kind, at })
      const changed = difference(before, entry)
      if (changed) recorded.push(toEvent(entry.id, deed, revision, changed))
    }
    for (const some of slices(changes)) await transaction.insertInto('change').values(some).execute()
    await log(at)
    return last
  }

  async function log(at: string): Promise<void> {
    if (recorded.length === 0) return
    const first = (await takeNumbers(transaction, 'audit', recorded.length)) - recorded.length + 1
    const rows = recorded.map((event, index) => ({ ...event, id: first + index, at }))
    for (const some of slices(rows)) await transaction.insertInto('audit').values(some).execute()
  }

  async function entry(reference: Reference): Promise<StoredEntry | undefined> {
    const row = await findRow(transaction, reference)
    return row && parseEntry(row)
  }

  async function put(entry: StoredEntry, deed: Deed = byGateway): Promise<void> {
    const before = touched.has(entry.id) ? touched.get(entry.id)?.before : await known(entry.id)
    const { id, ...rest } = toRow(entry)
    await transaction
      .insertInto('entry')
      .values({ id, ...rest })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
      .execute()
    touched.set(id, { before, entry, deed })
  }

  /** What stood there, where it can be read. */
  async function known(id: string): Promise<StoredEntry | undefined> {
    return await entry({ id }).catch((fault) => {
      if (fault instanceof UnreadableEntry) return undefined
      throw fault
    })
  }

  async function claims(namespaces: readonly string[]): Promise<Claim[]> {
    if (namespaces.length === 0) return []
    const rows = await transaction
      .selectFrom('entry')
      .select(['owner', 'owner_namespace', 'proved_namespace'])
      .distinct()
      .where('owner', 'is not', null)
      .where((row) =>
        row.or([row('owner_namespace', 'in', namespaces), row('proved_namespace', 'in', namespaces)]),
      )
      .execute()
    return rows.flatMap(({ owner, owner_namespace, proved_namespace }) => {
      const holder = toActor(owner)
      const held = [
        { namespace: owner_namespace, proved: false },
        { namespace: proved_namespace, proved: true },
      ]
      return held.flatMap(({ namespace, proved }) =>
        holder && namespace !== null && namespaces.includes(namespace) ? { namespace, holder, proved } : [],
      )
    })
  }

  const writer: Writer = {
    entry,
    claims,
    async lookalikes(packageName) {
      const rows = await transaction
        .selectFrom('entry')
        .select(['id', 'document'])
        .where('skeleton', '=', skeletonOf(packageName))
        .where('package_name', '!=', packageName)
        .execute()
      return rows.map(parseEntry).filter((entry) => !entry.deleted)
    },
    put,
    async record(entryId, deed) {
      recorded.push(toEvent(entryId, deed, null, { before: null, after: null }))
    },
    async lastDone(entryId, action, actor) {
      const row = await transaction
        .selectFrom('audit')
        .select('at')
        .where('entry_id', '=', entryId)
        .where('action', '=', action)
        .where('actor', '=', actorKey(actor))
        .orderBy('id', 'desc')
        .executeTakeFirst()
      return row?.at
    },
  }
  return { writer, commit }
}

function toEvent(
  entry_id: string,
  { actor, action, reason = null }: { actor: Deed['actor']; action: string; reason?: string | null },
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

function toRow(entry: StoredEntry): EntryTable {
  const { id, package_name, owner, proof, verification_level, check_at, deleted } = entry
  const isProved = owner && proof && verification_level === 'domain_verified' && !deleted
  return {
    id,
    package_name,
    owner: actorKey(owner),
    owner_namespace: owner?.namespace ?? null,
    proved_namespace: isProved ? proof.domain.split('.').reverse().join('.') : null,
    skeleton: skeletonOf(package_name),
    check_at: deleted ? null : check_at,
    listed: entry.state === 'ACTIVE' && !entry.suspended && !deleted ? 1 : 0,
    revision: 0,
    document: JSON.stringify(entry),
  }
}

/** A row as it lies: its document unread. */
export interface EntryRow {
  readonly id: string
  readonly document: string
}

export async function findRow(db: Kysely<Tables>, reference: Reference): Promise<EntryRow | undefined> {
  const select = db.selectFrom('entry').select(['id', 'document'])
  const query =
    'id' in reference
      ? select.where('id', '=', reference.id)
      : select.where('package_name', '=', reference.package_name)
  return await query.executeTakeFirst()
}

/** The last committed revision; 0 for an empty store. */
export async function currentRevision(db: Kysely<Tables>): Promise<number> {
  const row = await db.selectFrom('counter').select('value').where('name', '=', 'revision').executeTakeFirst()
  return row?.value ?? 0
}

/** The entry in a row. Throws UnreadableEntry. */
export function parseEntry({ id, document }: EntryRow): StoredEntry {
  try {
    return StoredEntry.parse(JSON.parse(document))
  } catch (fault) {
    throw new UnreadableEntry(id, fault)
  }
}
