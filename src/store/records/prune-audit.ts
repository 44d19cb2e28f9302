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
  return excess + (await pruneOldAudit(transact, before))
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

async function pruneOldAudit(transact: Transact, before: string): Promise<number> {
  for (let count = 0; ; ) {
    const deleted = await transact(async (db) => {
      // The order of ids is that of time: a search for old ones would read all others too.
      const first = db.selectFrom('audit').select(['id', 'at']).orderBy('id').limit(maxRowsPerStatement)
      const ids = (await first.execute()).flatMap(({ id, at }) => (at < before ? id : []))
      if (ids.length > 0) await db.deleteFrom('audit').where('id', 'in', ids).execute()
      return ids.length
    })
    count += deleted
    if (deleted < maxRowsPerStatement) return count
  }
}
