import type { Kysely } from 'kysely'
import type { CredentialStore } from '../../../schemas/credential.ts'
import type { Tables } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createCredentialStore(reader: Kysely<Tables>, transact: Transact): CredentialStore {
  return {
    find: (owner, entryId) =>
      reader
        .selectFrom('credential')
        .selectAll()
        .where('owner', '=', owner)
        .where('entry_id', '=', entryId)
        .executeTakeFirst(),
    list: (owner) =>
      reader.selectFrom('credential').selectAll().where('owner', '=', owner).orderBy('entry_id').execute(),
    put: (row, max) =>
      transact(async (db) => {
        const { owner, entry_id, ...values } = row
        const { count } = await db
          .selectFrom('credential')
          .select(({ fn }) => fn.countAll().as('count'))
          .where('owner', '=', owner)
          .where('entry_id', '!=', entry_id)
          .executeTakeFirstOrThrow()
        if (Number(count) >= max) return false
        await db
          .insertInto('credential')
          .values(row)
          .onConflict((conflict) => conflict.columns(['owner', 'entry_id']).doUpdateSet(values))
          .execute()
        return true
      }),
    remove: (owner, entryId) =>
      transact(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('credential')
          .where('owner', '=', owner)
          .where('entry_id', '=', entryId)
          .executeTakeFirst()
        return numDeletedRows > 0n
      }),
  }
}
