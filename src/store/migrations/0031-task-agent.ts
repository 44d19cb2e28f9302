// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** The agent that a task was given to. Tasks from before have none: they expire within an hour. */
export const taskAgent: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('task').addColumn('agent', columnTypes(db).text).execute()
  },
}
