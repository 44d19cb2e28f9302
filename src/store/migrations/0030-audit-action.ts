// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Admins ask for the events of one action in the log of all entries, which may be rare in a long log. */
export const auditAction: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.createIndex('audit_action').ifNotExists().on('audit').columns(['action', 'id']).execute()
  },
}
