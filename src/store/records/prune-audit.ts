import type { RetentionBounds } from '../record-stores.ts'
import { changeRows } from '../sql/row-counts.ts'
import { type Database, maxRowsPerStatement } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

/** Removes the events that are too old, and those of an entry that has too many; returns their number. */
export async function pruneAudit(
  reader: Database,
  transact: Transact,
  { audit: before, max_audit }: RetentionBounds,
): Promise<number> {
  const longLogs = await reader
    .selectFrom('audit')
    .select('entry_id')
    .groupBy('entry_id')
    .having(({ fn }) => fn.countAll(), '>', max_audit)
    .execute()
  let excess = 0
  for (const { entry_id } of longLogs) excess += await pruneAuditOf(transact, entry_id, max_audit)
  return excess + (await pruneOldAudit(reader, transact, before))
}

/** Removes all but the newest events of one entry. */
async function pruneAuditOf(transact: Transact, entryId: string, max: number): Promise<number> {
  return await transact(async (db) => {
    const last = await db
      .selectFrom('audit')
      .select('id')
      .where('entry_id', '=', entryId)
      .orderBy('id', 'desc')
      .limit(1)
      .offset(max)
      .executeTakeFirst()
    if (!last) return 0
    const older = db.deleteFrom('audit').where('entry_id', '=', entryId).where('id', '<=', last.id)
    return await changeRows(older)
  })
}

/** The order of ids is that of time, but for clocks that differ: a search for old events would read all others too. */
async function pruneOldAudit(reader: Database, transact: Transact, before: string): Promise<number> {
  for (let count = 0, last = 0; ; ) {
    const rows = await reader
      .selectFrom('audit')
      .select(['id', 'at'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(maxRowsPerStatement)
      .execute()
    const old = rows.filter(({ at }) => at < before).map(({ id }) => id)
    if (old.length === 0) return count
    await transact((db) => db.deleteFrom('audit').where('id', 'in', old).execute())
    count += old.length
    last = rows.at(-1)?.id ?? last
  }
}
