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

/** The same of the log of changes and of what was done, in one statement. */
export async function takeRevisions(
  db: Kysely<Tables>,
  counts: { readonly revision: number; readonly audit: number },
): Promise<{ revision: number; audit: number }> {
  const rows = await db
    .updateTable('counter')
    .set((row) => ({
      value: row(
        'value',
        '+',
        row.case('name').when('revision').then(counts.revision).else(counts.audit).end(),
      ),
    }))
    .where('name', 'in', ['revision', 'audit'])
    .returning(['name', 'value'])
    .execute()
  const last = (name: string) => rows.find((row) => row.name === name)?.value ?? 0
  return { revision: last('revision'), audit: last('audit') }
}
