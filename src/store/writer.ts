import type { Kysely } from 'kysely'
import { type Reference, StoredEntry, UnreadableEntry, type Writer } from './store.ts'
import type { Tables } from './tables.ts'

/**
 * The writer of one transaction, in either dialect. `commit` gives each touched entry the next revision and
 * logs it; the counter is taken there, last, so that its lock is held no longer than a commit.
 */
export function createWriter(
  transaction: Kysely<Tables>,
  clock: () => number,
): { writer: Writer; commit: () => Promise<number> } {
  const touched = new Map<string, StoredEntry>()

  async function commit(): Promise<number> {
    if (touched.size === 0) return currentRevision(transaction)
    const counter = await transaction
      .updateTable('counter')
      .set((row) => ({ value: row('value', '+', touched.size) }))
      .where('name', '=', 'revision')
      .returning('value')
      .executeTakeFirstOrThrow()
    let revision = counter.value - touched.size
    const at = new Date(clock()).toISOString()
    for (const entry of touched.values()) {
      revision += 1
      const document = JSON.stringify({ ...entry, revision })
      await transaction.updateTable('entry').set({ revision, document }).where('id', '=', entry.id).execute()
      const kind = entry.deleted ? ('delete' as const) : ('put' as const)
      await transaction.insertInto('change').values({ revision, entry_id: entry.id, kind, at }).execute()
    }
    return counter.value
  }

  async function put(entry: StoredEntry): Promise<void> {
    const { id, package_name } = entry
    const owner_namespace = entry.owner?.namespace ?? null
    const row = { id, package_name, owner_namespace, revision: 0, document: JSON.stringify(entry) }
    const { id: _, ...rest } = row
    await transaction
      .insertInto('entry')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
      .execute()
    touched.set(id, entry)
  }

  const writer: Writer = {
    async entry(reference) {
      const row = await findRow(transaction, reference)
      return row && parseEntry(row)
    },
    claimedNamespaces: async (namespaces) => {
      const rows = await transaction
        .selectFrom('entry')
        .select('owner_namespace')
        .distinct()
        .where('owner_namespace', 'in', namespaces)
        .execute()
      return rows.flatMap((row) => row.owner_namespace ?? [])
    },
    put,
  }
  return { writer, commit }
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
