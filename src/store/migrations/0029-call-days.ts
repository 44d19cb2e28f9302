// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** How the calls of one agent ended on one day; `day` counts from the epoch, in UTC. */
export const callDays: Migration = {
  async up(db: Kysely<unknown>) {
    const { text, integer } = columnTypes(db)
    await db.schema
      .createTable('call_day')
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('day', integer, (column) => column.notNull())
      .addColumn('calls', integer, (column) => column.notNull())
      .addColumn('refused', integer, (column) => column.notNull())
      .addColumn('failed', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('call_day_key', ['entry_id', 'day'])
      .execute()
    await db.schema.createIndex('call_day_day').on('call_day').column('day').execute()
  },
}
