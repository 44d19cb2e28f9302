import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** Takes so many numbers of a counter; the last of them. Within a transaction, as late as can be: it locks. */
export async function takeNumbers(db: Kysely<Tables>, name: string, count: number): Promise<number> {
  const counter = await db
    .updateTable('counter')
    .set((row) => ({ value: row('value', '+', count) }))
    .where('name', '=', name)
    .returning('value')
    .executeTakeFirstOrThrow()
  return counter.value
}

/** The last committed revision; 0 for an empty store. */
export async function currentRevision(db: Kysely<Tables>): Promise<number> {
  const row = await db.selectFrom('counter').select('value').where('name', '=', 'revision').executeTakeFirst()
  return row?.value ?? 0
}
