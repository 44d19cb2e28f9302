import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes, isPostgres } from './column-types.ts'

/** Whether everybody may see an entry, which its document alone said before. */
export const listed: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer } = columnTypes(db)
    await db.schema
      .alterTable('entry')
      .addColumn('listed', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    // No PostgreSQL had entries before this.
    if (isPostgres(db)) return
    await sql`
      update entry set listed = 1
      where json_valid(document) and document ->> '$.state' = 'ACTIVE'
        and document ->> '$.suspended' is null and not document ->> '$.deleted'`.execute(db)
  },
}
