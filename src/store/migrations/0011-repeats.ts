import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** Calls that may be sent again, by their callers' keys. Times in milliseconds since the epoch. */
export const repeats: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer, text } = columnTypes(db)
    await db.schema
      .createTable('repeat')
      .addColumn('owner', text, (column) => column.notNull())
      .addColumn('action', text, (column) => column.notNull())
      .addColumn('key', text, (column) => column.notNull())
      .addColumn('digest', text, (column) => column.notNull())
      .addColumn('holder', text, (column) => column.notNull().unique())
      .addColumn('output', text)
      .addColumn('expires_at', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('repeat_key', ['owner', 'action', 'key'])
      .execute()
    await db.schema.createIndex('repeat_expires_at').on('repeat').column('expires_at').execute()
  },
}
