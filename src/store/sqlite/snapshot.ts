import { type Kysely, sql } from 'kysely'
import type { Snapshot } from '../dump-restore.ts'
import type { Tables } from '../sql/tables.ts'

export function snapshotOf(reader: Kysely<Tables>): Snapshot {
  return (work) =>
    reader.connection().execute(async (db) => {
      await sql`begin`.execute(db)
      try {
        return await work(db)
      } finally {
        await sql`rollback`.execute(db)
      }
    })
}
