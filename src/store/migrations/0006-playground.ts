import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** Times are ISO 8601 in UTC, which sort as text. */
export const playground: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer, text } = columnTypes(db)
    await db.schema
      .createTable('playground_session')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('owner', text)
      .addColumn('created_at', text, (column) => column.notNull())
      .addColumn('expires_at', text, (column) => column.notNull())
      .addColumn('begun', integer, (column) => column.notNull())
      .addColumn('steps', integer, (column) => column.notNull())
      .addColumn('characters', integer, (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('playground_step')
      .addColumn('session', text, (column) => column.notNull())
      .addColumn('number', integer, (column) => column.notNull())
      .addColumn('characters', integer, (column) => column.notNull())
      .addColumn('document', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('playground_step_key', ['session', 'number'])
      .execute()
    await db.schema
      .createIndex('playground_session_owner')
      .on('playground_session')
      .columns(['owner', 'characters'])
      .execute()
    await db.schema
      .createIndex('playground_session_expires_at')
      .on('playground_session')
      .column('expires_at')
      .execute()
  },
}
