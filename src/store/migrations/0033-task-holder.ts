// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** Which process writes a task. Tasks from before have no holder: any process may take them over. */
export const taskHolder: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('task')
      .addColumn('holder', columnTypes(db).text, (column) => column.notNull().defaultTo(''))
      .execute()
  },
}
