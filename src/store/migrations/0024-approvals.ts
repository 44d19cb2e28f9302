// Frozen: never edited after its release.
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/**
 * Approvals of packages, and several credentials for one agent: one of a header, whose variable is empty, and one for
 * each variable of its package. Times are ISO 8601 in UTC.
 */
export const approvals: Migration = {
  async up(db: Kysely<unknown>) {
    const { text } = columnTypes(db)
    await db.schema
      .createTable('approval')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('scope', text, (column) => column.notNull())
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('document', text, (column) => column.notNull())
      .addColumn('created_at', text, (column) => column.notNull())
      .addUniqueConstraint('approval_place', ['scope', 'entry_id'])
      .execute()
    await db.schema.alterTable('credential').renameTo('credential_before').execute()
    await db.schema
      .createTable('credential')
      .addColumn('owner', text, (column) => column.notNull())
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('variable', text, (column) => column.notNull())
      .addColumn('origin', text, (column) => column.notNull())
      .addColumn('header', text, (column) => column.notNull())
      .addColumn('sealed', text, (column) => column.notNull())
      .addColumn('created_at', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('credential_place', ['owner', 'entry_id', 'variable'])
      .execute()
    await sql`
      insert into credential (owner, entry_id, variable, origin, header, sealed, created_at)
      select owner, entry_id, '', origin, header, sealed, created_at from credential_before`.execute(db)
    await db.schema.dropTable('credential_before').execute()
  },
}
