// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** What the probes of one agent found on one day; `day` counts from the epoch, in UTC. */
export const livenessDays: Migration = {
  async up(db: Kysely<unknown>) {
    const { text, integer } = columnTypes(db)
    await db.schema
      .createTable('liveness_day')
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('day', integer, (column) => column.notNull())
      .addColumn('probes', integer, (column) => column.notNull())
      .addColumn('failures', integer, (column) => column.notNull())
      .addColumn('p50_ms', integer)
      .addColumn('p95_ms', integer)
      .addPrimaryKeyConstraint('liveness_day_key', ['entry_id', 'day'])
      .execute()
    await db.schema.createIndex('liveness_day_day').on('liveness_day').column('day').execute()
  },
}
