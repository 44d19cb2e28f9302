import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const embeddings: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('embedding')
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('content_hash', 'text', (column) => column.notNull())
      .addColumn('vector', sql`blob`, (column) => column.notNull())
      .addPrimaryKeyConstraint('embedding_key', ['model', 'content_hash'])
      .execute()
    await db.schema
      .createTable('note')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute()
  },
}
