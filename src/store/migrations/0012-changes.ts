import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/**
 * What each change was to the public. Nobody has followed the log before this, so of what was changed then only what
 * is listed now is told: nobody has to be told that the rest has gone. Times of webhooks are ISO 8601 in UTC.
 */
export const changes: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer, text } = columnTypes(db)
    await db.schema
      .alterTable('change')
      .addColumn('seen', text, (column) => column.notNull().defaultTo('unseen'))
      .execute()
    await sql`
      update change set seen = 'listed'
      where entry_id in (select id from entry where listed = 1)`.execute(db)
    await db.schema
      .createTable('webhook')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('owner', text, (column) => column.notNull())
      .addColumn('url', text, (column) => column.notNull())
      .addColumn('sealed', text, (column) => column.notNull())
      .addColumn('kinds', text, (column) => column.notNull())
      .addColumn('mine', integer, (column) => column.notNull())
      .addColumn('created_at', text, (column) => column.notNull())
      .addColumn('version', integer, (column) => column.notNull())
      .addColumn('position', integer, (column) => column.notNull())
      .addColumn('pending', integer)
      .addColumn('next_at', text)
      .addColumn('failures', integer, (column) => column.notNull())
      .addColumn('failing_since', text)
      .addColumn('disabled_at', text)
      .addColumn('deliveries', text, (column) => column.notNull())
      .execute()
    for (const column of ['owner', 'next_at']) {
      await db.schema.createIndex(`webhook_${column}`).on('webhook').column(column).execute()
    }
  },
}
