import type { CredentialStore, StoredCredential } from '../../../schemas/credential.ts'
import type { Database, Tables } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createCredentialStore(reader: Database, transact: Transact): CredentialStore {
  return {
    async find(owner, entryId) {
      const rows = await reader
        .selectFrom('credential')
        .selectAll()
        .where('owner', '=', owner)
        .where('entry_id', '=', entryId)
        .orderBy('variable')
        .execute()
      return rows.map(read)
    },
    async list(owner) {
      const rows = await reader
        .selectFrom('credential')
        .selectAll()
        .where('owner', '=', owner)
        .orderBy('entry_id')
        .orderBy('variable')
        .execute()
      return rows.map(read)
    },
    put: (credential, max) =>
      transact(async (db) => {
        const row = written(credential)
        const { owner, entry_id, variable, ...values } = row
        const { count } = await db
          .selectFrom('credential')
          .select(({ fn }) => fn.countAll().as('count'))
          .where('owner', '=', owner)
          .where((where) => where.or([where('entry_id', '!=', entry_id), where('variable', '!=', variable)]))
          .executeTakeFirstOrThrow()
        if (Number(count) >= max) return false
        await db
          .insertInto('credential')
          .values(row)
          .onConflict((conflict) => conflict.columns(['owner', 'entry_id', 'variable']).doUpdateSet(values))
          .execute()
        return true
      }),
    remove: (owner, entryId, variable) =>
      transact(async (db) => {
        const all = db.deleteFrom('credential').where('owner', '=', owner).where('entry_id', '=', entryId)
        const chosen = variable === undefined ? all : all.where('variable', '=', variable)
        const { numDeletedRows } = await chosen.executeTakeFirst()
        return numDeletedRows > 0n
      }),
    replace: (credential, sealed) =>
      transact(async (db) => {
        const { owner, entry_id, variable, ...values } = written(credential)
        const { numUpdatedRows } = await db
          .updateTable('credential')
          .set(values)
          .where('owner', '=', owner)
          .where('entry_id', '=', entry_id)
          .where('variable', '=', variable)
          .where('sealed', '=', sealed)
          .executeTakeFirst()
        return numUpdatedRows > 0n
      }),
    removeSame: ({ owner, entry_id, variable, sealed }) =>
      transact(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('credential')
          .where('owner', '=', owner)
          .where('entry_id', '=', entry_id)
          .where('variable', '=', variable)
          .where('sealed', '=', sealed)
          .executeTakeFirst()
        return numDeletedRows > 0n
      }),
  }
}

function read({ sign_in, ...row }: Tables['credential']): StoredCredential {
  return { ...row, sign_in: sign_in === null ? null : JSON.parse(sign_in) }
}

function written({ sign_in, ...credential }: StoredCredential): Tables['credential'] {
  return { ...credential, sign_in: sign_in && JSON.stringify(sign_in) }
}
