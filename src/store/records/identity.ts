import { type Expression, sql } from 'kysely'
import type { Revocation } from '../../../schemas/identity.ts'
import { type IdentityStore, StoredKey } from '../record-stores.ts'
import { countRows } from '../sql/row-counts.ts'
import type { ApiKeyTable, Database } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

/** API keys and revocations as rows, in either dialect. */
export function createIdentityStore(reader: Database, commit: Transact): IdentityStore {
  return {
    async key(id) {
      const row = await reader.selectFrom('api_key').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toKey(row)
    },
    async keys(owner) {
      const all = reader.selectFrom('api_key').selectAll().orderBy('created_at', 'desc').orderBy('id')
      const query = owner ? all.where('issuer', '=', owner.issuer).where('subject', '=', owner.subject) : all
      return (await query.execute()).map(toKey)
    },
    async addKey(key, max) {
      const { scopes, namespaces, ...plain } = key
      const row = { ...plain, scopes: JSON.stringify(scopes), namespaces: JSON.stringify(namespaces) }
      return await commit(async (transaction) => {
        const owner = { issuer: key.issuer, subject: key.subject }
        await transaction
          .deleteFrom('api_key')
          .where((own) => own.and(owner))
          .where('expires_at', '<=', key.created_at)
          .execute()
        const all = transaction.selectFrom('api_key').where((own) => own.and(owner))
        if ((await countRows(all)) >= max) return false
        await transaction.insertInto('api_key').values(row).execute()
        return true
      })
    },
    async endKey(id, revocation, now) {
      await commit(async (transaction) => {
        await transaction.deleteFrom('api_key').where('id', '=', id).execute()
        await put(transaction, revocation, now)
      })
    },
    revocations: (now) => reader.selectFrom('revocation').selectAll().where('expires_at', '>', now).execute(),
    async revoke(revocation, now) {
      await commit((transaction) => put(transaction, revocation, now))
    },
  }
}

/** Expired rows are deleted too, so that the table holds only revocations that still matter. */
async function put(transaction: Database, row: Revocation, now: number): Promise<void> {
  await transaction.deleteFrom('revocation').where('expires_at', '<=', now).execute()
  await transaction
    .insertInto('revocation')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['kind', 'issuer', 'name']).doUpdateSet((set) => ({
        before: later(set.ref('excluded.before'), set.ref('revocation.before')),
        expires_at: later(set.ref('excluded.expires_at'), set.ref('revocation.expires_at')),
        reason: set.ref('excluded.reason'),
      })),
    )
    .execute()
}

/** SQLite and PostgreSQL have no common function for the greater of two values. */
function later(left: Expression<number>, right: Expression<number>) {
  return sql<number>`case when ${left} > ${right} then ${left} else ${right} end`
}

function toKey({ scopes, namespaces, ...row }: ApiKeyTable): StoredKey {
  return StoredKey.parse({ ...row, scopes: JSON.parse(scopes), namespaces: JSON.parse(namespaces) })
}
