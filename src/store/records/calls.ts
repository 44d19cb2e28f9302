import type { CallStore } from '../../../schemas/calls.ts'
import { chunksOf } from '../../common/chunks.ts'
import { dateOfDay } from '../../common/days.ts'
import { type Database, maxRowsPerStatement } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createCallStore(reader: Database, transact: Transact): CallStore {
  return {
    add: (day, counts) =>
      transact(async (db) => {
        const rows = [...counts].map(([entry_id, counted]) => ({ entry_id, day, ...counted }))
        // In one order, so that two gateways do not wait for each other.
        rows.sort((left, right) => (left.entry_id < right.entry_id ? -1 : 1))
        for (const chunk of chunksOf(rows, maxRowsPerStatement)) {
          await db
            .insertInto('call_day')
            .values(chunk)
            .onConflict((conflict) =>
              conflict.columns(['entry_id', 'day']).doUpdateSet((row) => ({
                calls: row('call_day.calls', '+', row.ref('excluded.calls')),
                refused: row('call_day.refused', '+', row.ref('excluded.refused')),
                failed: row('call_day.failed', '+', row.ref('excluded.failed')),
              })),
            )
            .execute()
        }
      }),

    async days(entryId, from) {
      const rows = await reader
        .selectFrom('call_day')
        .select(['day', 'calls', 'refused', 'failed'])
        .where('entry_id', '=', entryId)
        .where('day', '>=', from)
        .orderBy('day')
        .execute()
      return rows.map(({ day, ...counts }) => ({ date: dateOfDay(day), ...counts }))
    },
  }
}
