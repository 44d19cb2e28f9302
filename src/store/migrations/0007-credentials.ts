import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** Credentials for other agents, sealed. Times are ISO 8601 in UTC. */
export const credentials: Migration = {
  async up(db: Kysely<unknown>) {
    const { text } = columnTypes(db)
    await db.schema
      .createTable('credential')
      .addColumn('owner', text, (column) => column.notNull())
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('origin', text, (column) => column.notNull())
      .addColumn('header', text, (column) => column.notNull())
      .addColumn('sealed', text, (column) => column.notNull())
      .addColumn('created_at', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('credential_key', ['owner', 'entry_id'])
      .execute()
  },
}
