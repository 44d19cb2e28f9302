import type { Kysely } from 'kysely'
import { actorKey, toActor } from './audit.ts'
import { commitPuts, type Done, type Known, type Put, toRow, upsert } from './commit.ts'
import { skeletonOf } from './skeleton.ts'
import { type Claim, type Deed, type Reference, StoredEntry, UnreadableEntry, type Writer } from './store.ts'
import type { EntryTable, Tables } from './tables.ts'

const byGateway: Deed = { actor: null, action: 'write' }

/** The writer of one transaction, in either dialect; `commit` gives what it has put its revisions, and logs it. */
export function createWriter(
  transaction: Kysely<Tables>,
  clock: () => number,
): { writer: Writer; commit: () => Promise<number> } {
  const puts = new Map<string, Put>()
  const done: Done[] = []

  async function entry(reference: Reference): Promise<StoredEntry | undefined> {
    const row = await findRow(transaction, reference)
    return row && parseEntry(row)
  }

  async function put(entry: StoredEntry, deed: Deed = byGateway): Promise<void> {
    const before = puts.get(entry.id)?.before ?? (await known(entry.id))
    await upsert(transaction, [toRow(entry)])
    puts.set(entry.id, { before, entry, deed })
  }

  async function known(id: string): Promise<Known> {
    const row = await findRow(transaction, { id })
    if (!row) return { listed: false }
    const listed = row.listed === 1
    try {
      return { listed, entry: parseEntry(row) }
    } catch (fault) {
      if (fault instanceof UnreadableEntry) return { listed }
      throw fault
    }
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
      done.push({ entry_id: entryId, deed })
    },
    async published(entryId, version) {
      const rows = await transaction
        .selectFrom('version')
        .select('sha256')
        .where('entry_id', '=', entryId)
        .where('version', '=', version)
        .execute()
      return rows.map((row) => row.sha256)
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
  return {
    writer,
    commit: () => commitPuts(transaction, [...puts.values()], done, new Date(clock()).toISOString()),
  }
}

/** A row as it lies: its document unread. */
export interface EntryRow {
  readonly id: string
  readonly document: string
}

export async function findRow(
  db: Kysely<Tables>,
  reference: Reference,
): Promise<(EntryRow & Pick<EntryTable, 'listed'>) | undefined> {
  const select = db.selectFrom('entry').select(['id', 'listed', 'document'])
  const query =
    'id' in reference
      ? select.where('id', '=', reference.id)
      : select.where('package_name', '=', reference.package_name)
  return await query.executeTakeFirst()
}

/** The entry in a row. Throws UnreadableEntry. */
export function parseEntry({ id, document }: EntryRow): StoredEntry {
  try {
    return StoredEntry.parse(JSON.parse(document))
  } catch (fault) {
    throw new UnreadableEntry(id, fault)
  }
}
