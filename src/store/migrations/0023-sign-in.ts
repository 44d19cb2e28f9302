// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** Sessions, codes, tokens, grants and clients of the authorization server. Times in milliseconds since the epoch. */
export const signIn: Migration = {
  async up(db: Kysely<unknown>) {
    const { text, integer } = columnTypes(db)
    await db.schema
      .createTable('sign_in')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('alias', text)
      .addColumn('grant_id', text)
      .addColumn('owner', text)
      .addColumn('document', text, (column) => column.notNull())
      .addColumn('consumed_at', integer)
      .addColumn('expires_at', integer, (column) => column.notNull())
      .execute()
    for (const columns of [['kind', 'alias'], ['grant_id'], ['owner'], ['expires_at']])
      await db.schema.createIndex(`sign_in_${columns[0]}`).on('sign_in').columns(columns).execute()
  },
}
