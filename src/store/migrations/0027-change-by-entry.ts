// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The changes of one entry, in order. */
export const changeByEntry: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.createIndex('change_entry').on('change').columns(['entry_id', 'revision']).execute()
  },
}
