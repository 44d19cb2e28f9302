import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** Times are integers: milliseconds since the epoch. */
export const identity: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer, text } = columnTypes(db)
    await db.schema
      .createTable('api_key')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('sha256', text, (column) => column.notNull())
      .addColumn('issuer', text, (column) => column.notNull())
      .addColumn('subject', text, (column) => column.notNull())
      .addColumn('scopes', text, (column) => column.notNull())
      .addColumn('namespaces', text, (column) => column.notNull())
      .addColumn('label', text)
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .execute()
    await db.schema.createIndex('api_key_owner').on('api_key').columns(['issuer', 'subject']).execute()
    await db.schema
      .createTable('revocation')
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('issuer', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('before', integer, (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .addColumn('reason', text)
      .addPrimaryKeyConstraint('revocation_key', ['kind', 'issuer', 'name'])
      .execute()
  },
}
