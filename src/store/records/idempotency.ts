import type { IdempotencyStore } from '../../../schemas/idempotency.ts'
import { countRows } from '../sql/row-counts.ts'
import type { Database } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createIdempotencyStore(transact: Transact, clock: () => number): IdempotencyStore {
  return {
    begin: (call, holder, until, max) =>
      transact(async (db) => {
        await db.deleteFrom('repeat').where('expires_at', '<=', clock()).execute()
        const { owner, action, key } = call
        const existing = await db
          .selectFrom('repeat')
          .select(['digest', 'output'])
          .where((row) => row.and({ owner, action, key }))
          .executeTakeFirst()
        if (existing) return existing
        await makeRoom(db, owner, max)
        await db
          .insertInto('repeat')
          .values({ ...call, holder, output: null, expires_at: until })
          .execute()
        return undefined
      }),
    keep: ({ owner, action, key }, holder, output, until) =>
      transact(async (db) => {
        await db
          .updateTable('repeat')
          .set({ output, expires_at: until })
          .where((row) => row.and({ owner, action, key, holder }))
          .execute()
      }),
    forget: ({ owner, action, key }, holder) =>
      transact(async (db) => {
        await db
          .deleteFrom('repeat')
          .where((row) => row.and({ owner, action, key, holder }))
          .where('output', 'is', null)
          .execute()
      }),
  }
}

/** Deletes the oldest finished calls of the owner until one more call fits. */
async function makeRoom(db: Database, owner: string, max: number): Promise<void> {
  const excess = (await countRows(db.selectFrom('repeat').where('owner', '=', owner))) + 1 - max
  if (excess <= 0) return
  const oldest = await db
    .selectFrom('repeat')
    .select('holder')
    .where('owner', '=', owner)
    .where('output', 'is not', null)
    .orderBy('expires_at')
    .limit(excess)
    .execute()
  const holders = oldest.map(({ holder }) => holder)
  if (holders.length > 0) await db.deleteFrom('repeat').where('holder', 'in', holders).execute()
}
