import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes, isPostgres } from './column-types.ts'

/** What callers have used up, where several gateways count together: in the shape that rate-limiter-flexible has. */
export const rate: Migration = {
  async up(db: Kysely<unknown>) {
    if (!isPostgres(db)) return
    const { text, integer } = columnTypes(db)
    await db.schema
      .createTable('rate')
      .addColumn('key', text, (column) => column.primaryKey())
      .addColumn('points', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('expire', integer)
      .execute()
  },
}
