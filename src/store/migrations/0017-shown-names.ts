import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/**
 * Equal for display names that look alike. Entries of before have none until they are written again: verified ones
 * within a day, when they are checked.
 */
export const shownNames: Migration = {
  async up(db: Kysely<unknown>) {
    const { text } = columnTypes(db)
    await db.schema.alterTable('entry').addColumn('display_key', text).execute()
    await db.schema
      .createIndex('entry_display_key')
      .on('entry')
      .columns(['display_key', 'proved_namespace'])
      .execute()
  },
}
