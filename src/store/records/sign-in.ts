import type { SignInRow, SignInStore } from '../../../schemas/sign-in.ts'
import { changeRows, countRows } from '../sql/row-counts.ts'
import type { Database } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createSignInStore(reader: Database, transact: Transact): SignInStore {
  const living = (now: number) => reader.selectFrom('sign_in').selectAll().where('expires_at', '>', now)

  return {
    async put(row) {
      const { id: _, consumed_at: __, ...values } = row
      await transact((db) =>
        db
          .insertInto('sign_in')
          .values(row)
          .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
          .execute(),
      )
    },
    async find(id, now) {
      const row = await living(now).where('id', '=', id).executeTakeFirst()
      return row && read(row)
    },
    async findByAlias(kind, alias, now) {
      const row = await living(now).where('kind', '=', kind).where('alias', '=', alias).executeTakeFirst()
      return row && read(row)
    },
    consume: (id, now) =>
      transact(async (db) => {
        const update = db
          .updateTable('sign_in')
          .set({ consumed_at: now })
          .where((row) => row.and({ id, consumed_at: null }))
          .where('expires_at', '>', now)
        return (await changeRows(update)) > 0
      }),
    async extend(id, expires_at) {
      await transact((db) => db.updateTable('sign_in').set({ expires_at }).where('id', '=', id).execute())
    },
    async remove(id) {
      await transact((db) => db.deleteFrom('sign_in').where('id', '=', id).execute())
    },
    async removeGrant(grant_id) {
      await transact((db) => db.deleteFrom('sign_in').where('grant_id', '=', grant_id).execute())
    },
    async removeOwner(owner) {
      await transact((db) => db.deleteFrom('sign_in').where('owner', '=', owner).execute())
    },
    async removeExpiring(kind, before) {
      await transact((db) =>
        db.deleteFrom('sign_in').where('kind', '=', kind).where('expires_at', '<', before).execute(),
      )
    },
    count: (kind, now) =>
      countRows(reader.selectFrom('sign_in').where('kind', '=', kind).where('expires_at', '>', now)),
  }
}

/** PostgreSQL returns integers of 64 bits as text. */
function read({ consumed_at, expires_at, ...row }: SignInRow): SignInRow {
  return {
    ...row,
    consumed_at: consumed_at === null ? null : Number(consumed_at),
    expires_at: Number(expires_at),
  }
}
