import type { ApprovalStore } from '../../../schemas/approval.ts'
import { changeRows } from '../sql/row-counts.ts'
import type { Database } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createApprovalStore(reader: Database, transact: Transact): ApprovalStore {
  return {
    find: (scope, entryId) =>
      reader
        .selectFrom('approval')
        .selectAll()
        .where((row) => row.and({ scope, entry_id: entryId }))
        .executeTakeFirst(),
    list(scope, range) {
      const all = reader.selectFrom('approval').selectAll().where('scope', '=', scope).orderBy('entry_id')
      if (!range) return all.execute()
      return all
        .where('entry_id', '>', range.after ?? '')
        .limit(range.limit)
        .execute()
    },
    put: (row) =>
      transact(async (db) => {
        const { scope: _, entry_id: __, ...values } = row
        await db
          .insertInto('approval')
          .values(row)
          .onConflict((conflict) => conflict.columns(['scope', 'entry_id']).doUpdateSet(values))
          .execute()
      }),
    remove: (scope, entryId) =>
      transact(async (db) => {
        const those = db.deleteFrom('approval').where((row) => row.and({ scope, entry_id: entryId }))
        return (await changeRows(those)) > 0
      }),
  }
}
