import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Takes so many numbers of a counter; the last of them. Within a transaction, as late as can be: it locks. */
export async function nextCounterValues(db: Kysely<Tables>, name: string, count: number): Promise<number> {
  const counter = await db
    .updateTable('counter')
    .set((row) => ({ value: row('value', '+', count) }))
    .where('name', '=', name)
    .returning('value')
    .executeTakeFirstOrThrow()
  return counter.value
}

/** The same of several counters in one statement. */
export async function nextCounters<Name extends string>(
  db: Kysely<Tables>,
  counts: Readonly<Record<Name, number>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(counts) as Name[]
  const cases = names.map((name) => sql`when ${name} then cast(${counts[name]} as bigint)`)
  const rows = await db
    .updateTable('counter')
    .set({ value: sql`value + case name ${sql.join(cases, sql` `)} end` })
    .where('name', 'in', names)
    .returning(['name', 'value'])
    .execute()
  return Object.fromEntries(rows.map(({ name, value }) => [name, value])) as Record<Name, number>
}

/** The last committed revision; 0 for an empty store. */
export async function currentRevision(db: Kysely<Tables>): Promise<number> {
  const row = await db.selectFrom('counter').select('value').where('name', '=', 'revision').executeTakeFirst()
  return row?.value ?? 0
}
