import { sql } from 'kysely'
import type { Database } from './tables.ts'
import type { Statement } from './transaction.ts'

/**
 * Increments a counter by `count` and returns its value. Call it as late as possible in a transaction: it locks the
 * row.
 */
export async function nextCounterValues(db: Database, name: string, count: number): Promise<number> {
  const counter = await db
    .updateTable('counter')
    .set((row) => ({ value: row('value', '+', count) }))
    .where('name', '=', name)
    .returning('value')
    .executeTakeFirstOrThrow()
  return counter.value
}

/** Locks counters until the commit, and returns their values. */
export async function lockCounters<Name extends string>(
  db: Database,
  names: readonly Name[],
): Promise<Record<Name, number>> {
  // Both dialects lock what they update.
  const rows = await db
    .updateTable('counter')
    .set((row) => ({ value: row.ref('value') }))
    .where('name', 'in', names)
    .returning(['name', 'value'])
    .execute()
  return Object.fromEntries(rows.map(({ name, value }) => [name, value])) as Record<Name, number>
}

/** Increments several counters in one statement. */
export function addToCounters(db: Database, counts: Readonly<Record<string, number>>): Statement {
  const cases = Object.entries(counts).map(([name, count]) => sql`when ${name} then cast(${count} as bigint)`)
  return db
    .updateTable('counter')
    .set({ value: sql`value + case name ${sql.join(cases, sql` `)} end` })
    .where('name', 'in', Object.keys(counts))
}

/** The last committed revision; 0 for an empty store. */
export async function currentRevision(db: Database): Promise<number> {
  const row = await db.selectFrom('counter').select('value').where('name', '=', 'revision').executeTakeFirst()
  return row?.value ?? 0
}
