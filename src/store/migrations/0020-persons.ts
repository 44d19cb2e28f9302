import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The rows of one person are found without reading all rows. */
export const persons: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.createIndex('entry_owner').on('entry').columns(['owner', 'id']).execute()
    await db.schema.createIndex('audit_actor').on('audit').columns(['actor', 'id']).execute()
  },
}
