import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * Increments a counter by `count` and returns its value. Call it as late as possible in a transaction: it locks the
 * row.
 */
export async function nextCounterValues(db: Kysely<Tables>, name: string, count: number): Promise<number> {
  const counter = await db
    .updateTable('counter')
    .set((row) => ({ value: row('value', '+', count) }))
    .where('name', '=', name)
    .returning('value')
    .executeTakeFirstOrThrow()
  return counter.value
}

/** Increments several counters in one statement. */
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
