import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** The addresses to which the changes of a task are posted, as JSON. */
export const taskPush: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('task').addColumn('push', columnTypes(db).text).execute()
  },
}
