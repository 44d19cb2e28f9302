import type { CredentialStore, StoredCredential } from '../../../schemas/credential.ts'
import { changeRows, countRows } from '../sql/row-counts.ts'
import type { Database, Tables } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createCredentialStore(reader: Database, transact: Transact): CredentialStore {
  return {
    async find(owner, entryId) {
      const rows = await reader
        .selectFrom('credential')
        .selectAll()
        .where((row) => row.and({ owner, entry_id: entryId }))
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
        const others = db
          .selectFrom('credential')
          .where('owner', '=', owner)
          .where((where) => where.or([where('entry_id', '!=', entry_id), where('variable', '!=', variable)]))
        if ((await countRows(others)) >= max) return false
        await db
          .insertInto('credential')
          .values(row)
          .onConflict((conflict) => conflict.columns(['owner', 'entry_id', 'variable']).doUpdateSet(values))
          .execute()
        return true
      }),
    remove: (owner, entryId, variable) =>
      transact(async (db) => {
        const chosen = { owner, entry_id: entryId, ...(variable !== undefined && { variable }) }
        return (await changeRows(db.deleteFrom('credential').where((row) => row.and(chosen)))) > 0
      }),
    replace: (credential, sealed) =>
      transact(async (db) => {
        const { owner, entry_id, variable, ...values } = written(credential)
        const same = { owner, entry_id, variable, sealed }
        const update = db.updateTable('credential').set(values)
        return (await changeRows(update.where((row) => row.and(same)))) > 0
      }),
    removeSame: ({ owner, entry_id, variable, sealed }) =>
      transact(async (db) => {
        const same = { owner, entry_id, variable, sealed }
        return (await changeRows(db.deleteFrom('credential').where((row) => row.and(same)))) > 0
      }),
  }
}

function read({ sign_in, ...row }: Tables['credential']): StoredCredential {
  return { ...row, sign_in: sign_in === null ? null : JSON.parse(sign_in) }
}

function written({ sign_in, ...credential }: StoredCredential): Tables['credential'] {
  return { ...credential, sign_in: sign_in && JSON.stringify(sign_in) }
}
