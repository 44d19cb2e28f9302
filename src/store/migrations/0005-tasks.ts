import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** Times are ISO 8601 in UTC, which sort as text. */
export const tasks: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer, text } = columnTypes(db)
    await db.schema
      .createTable('task')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('owner', text)
      .addColumn('counted_by', text, (column) => column.notNull())
      .addColumn('context_id', text, (column) => column.notNull())
      .addColumn('state', text, (column) => column.notNull())
      .addColumn('unfinished', integer, (column) => column.notNull())
      .addColumn('updated_at', text, (column) => column.notNull())
      .addColumn('expires_at', text, (column) => column.notNull())
      .addColumn('alive_until', text)
      .addColumn('characters', integer, (column) => column.notNull())
      .addColumn('document', text, (column) => column.notNull())
      .execute()
    await db.schema.createIndex('task_owner').on('task').columns(['owner', 'updated_at', 'id']).execute()
    await db.schema
      .createIndex('task_counted_by')
      .on('task')
      .columns(['counted_by', 'unfinished', 'characters'])
      .execute()
    await db.schema.createIndex('task_updated_at').on('task').columns(['unfinished', 'updated_at']).execute()
    for (const column of ['expires_at', 'alive_until']) {
      await db.schema.createIndex(`task_${column}`).on('task').column(column).execute()
    }
  },
}
