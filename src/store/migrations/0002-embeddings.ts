import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

export const embeddings: Migration = {
  async up(db: Kysely<unknown>) {
    const { bytes, text } = columnTypes(db)
    await db.schema
      .createTable('embedding')
      .addColumn('model', text, (column) => column.notNull())
      .addColumn('content_hash', text, (column) => column.notNull())
      .addColumn('vector', bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('embedding_key', ['model', 'content_hash'])
      .execute()
    await db.schema
      .createTable('note')
      .addColumn('name', text, (column) => column.primaryKey())
      .addColumn('value', text, (column) => column.notNull())
      .execute()
  },
}
