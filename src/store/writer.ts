import type { Kysely } from 'kysely'
import { actorKey, difference, toActor } from './audit.ts'
import { takeRevisions } from './counter.ts'
import { skeletonOf } from './skeleton.ts'
import { slices } from './slices.ts'
import { type Claim, type Deed, type Reference, StoredEntry, UnreadableEntry, type Writer } from './store.ts'
import type { AuditTable, ChangeTable, EntryTable, Tables } from './tables.ts'
import { together } from './together.ts'

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
  /** As they stood before this transaction: nobody else writes while it goes on. */
  const read = new Map<string, StoredEntry>()

  async function commit(): Promise<number> {
    if (touched.size === 0 && recorded.length === 0) return await currentRevision(transaction)
    const at = new Date(clock()).toISOString()
    const done = [...touched.values()].map((one) => ({ ...one, changed: difference(one.before, one.entry) }))
    const said = done.filter(({ changed }) => changed !== undefined).length
    const last = await takeRevisions(transaction, {
      revision: done.length,
      audit: recorded.length + said,
    })
    const first = last.revision - done.length + 1
    const numbered = done.map((one, index) => ({ ...one, revision: first + index }))
    const events = numbered.flatMap(({ entry, deed, revision, changed }) =>
      changed ? toEvent(entry.id, deed, revision, changed) : [],
    )
    const logged = [...log(numbered, at), ...audit([...recorded, ...events], last.audit, at)]
    await together([...logged, settle(numbered)])
    return last.revision
  }

  async function settle(numbered: readonly { entry: StoredEntry; revision: number }[]): Promise<void> {
    for (const some of slices(numbered)) await together(some.map(number))
  }

  function number({ entry, revision }: { entry: StoredEntry; revision: number }): Promise<unknown> {
    const document = JSON.stringify({ ...entry, revision })
    return transaction.updateTable('entry').set({ revision, document }).where('id', '=', entry.id).execute()
  }

  function log(
    numbered: readonly { entry: StoredEntry; revision: number }[],
    at: string,
  ): Promise<unknown>[] {
    const changes = numbered.map(({ entry, revision }): ChangeTable => {
      return { revision, entry_id: entry.id, kind: entry.deleted ? 'delete' : 'put', at }
    })
    return [...slices(changes)].map((some) => transaction.insertInto('change').values(some).execute())
  }

  function audit(events: readonly Event[], last: number, at: string): Promise<unknown>[] {
    const first = last - events.length + 1
    const rows = events.map((event, index) => ({ ...event, id: first + index, at }))
    return [...slices(rows)].map((some) => transaction.insertInto('audit').values(some).execute())
  }

  async function entry(reference: Reference): Promise<StoredEntry | undefined> {
    const row = await findRow(transaction, reference)
    const found = row && parseEntry(row)
    if (found && !touched.has(found.id)) read.set(found.id, found)
    return found
  }

  async function put(entry: StoredEntry, deed: Deed = byGateway): Promise<void> {
    const before = touched.has(entry.id)
      ? touched.get(entry.id)?.before
      : (read.get(entry.id) ?? (await known(entry.id)))
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
