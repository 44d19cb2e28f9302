import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** Times are ISO 8601 in UTC, which sort as text. */
export const liveness: Migration = {
  async up(db: Kysely<unknown>) {
    const { text, integer } = columnTypes(db)
    await db.schema
      .createTable('liveness')
      .addColumn('entry_id', text, (column) => column.primaryKey())
      .addColumn('place', text, (column) => column.notNull())
      .addColumn('next_at', text)
      .addColumn('sequence', integer, (column) => column.notNull())
      .addColumn('shown', text, (column) => column.notNull())
      .addColumn('document', text, (column) => column.notNull())
      .execute()
    for (const column of ['next_at', 'sequence']) {
      await db.schema.createIndex(`liveness_${column}`).on('liveness').column(column).execute()
    }
    const counter = db as Kysely<{ counter: { name: string; value: number } }>
    await counter.insertInto('counter').values({ name: 'liveness', value: 0 }).execute()
  },
}
