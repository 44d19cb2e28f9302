import { type Expression, type Kysely, sql, type Transaction } from 'kysely'
import type { Revocation } from '../../schemas/identity.ts'
import { type IdentityStore, StoredKey } from './store.ts'
import type { ApiKeyTable, Tables } from './tables.ts'

type Commit = <T>(work: (transaction: Transaction<Tables>) => Promise<T>) => Promise<T>

/** API keys and revocations as rows, in either dialect. */
export function createIdentityStore(reader: Kysely<Tables>, commit: Commit): IdentityStore {
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
    async addKey(key) {
      const { scopes, namespaces, ...plain } = key
      const row = { ...plain, scopes: JSON.stringify(scopes), namespaces: JSON.stringify(namespaces) }
      await commit((transaction) => transaction.insertInto('api_key').values(row).execute())
    },
    async endKey(id, revocation) {
      await commit(async (transaction) => {
        await transaction.deleteFrom('api_key').where('id', '=', id).execute()
        await put(transaction, revocation)
      })
    },
    revocations: (now) => reader.selectFrom('revocation').selectAll().where('expires_at', '>', now).execute(),
    async revoke(revocation, now) {
      await commit(async (transaction) => {
        await transaction.deleteFrom('revocation').where('expires_at', '<=', now).execute()
        await put(transaction, revocation)
      })
    },
  }
}

async function put(transaction: Transaction<Tables>, row: Revocation): Promise<void> {
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

/** SQLite and PostgreSQL have no common function for the greater of two. */
function later(one: Expression<number>, other: Expression<number>) {
  return sql<number>`case when ${one} > ${other} then ${one} else ${other} end`
}

function toKey({ scopes, namespaces, ...row }: ApiKeyTable): StoredKey {
  return StoredKey.parse({ ...row, scopes: JSON.parse(scopes), namespaces: JSON.parse(namespaces) })
}
