import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

export const entries: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer, text } = columnTypes(db)
    await db.schema
      .createTable('entry')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('package_name', text, (column) => column.notNull().unique())
      .addColumn('owner_namespace', text)
      .addColumn('revision', integer, (column) => column.notNull())
      .addColumn('document', text, (column) => column.notNull())
      .execute()
    await db.schema.createIndex('entry_owner_namespace').on('entry').column('owner_namespace').execute()
    await db.schema
      .createTable('change')
      .addColumn('revision', integer, (column) => column.primaryKey())
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('at', text, (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('counter')
      .addColumn('name', text, (column) => column.primaryKey())
      .addColumn('value', integer, (column) => column.notNull())
      .execute()
    const counter = db as Kysely<{ counter: { name: string; value: number } }>
    await counter.insertInto('counter').values({ name: 'revision', value: 0 }).execute()
  },
}
