import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** The address that an anonymous session counts against; older sessions have none and end within an hour. */
export const sessionAddresses: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('playground_session').addColumn('counted_by', columnTypes(db).text).execute()
    await db.schema
      .createIndex('playground_session_counted_by')
      .on('playground_session')
      .column('counted_by')
      .execute()
  },
}
