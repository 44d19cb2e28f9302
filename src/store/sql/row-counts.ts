import type { DeleteResult, SelectQueryBuilder, UpdateResult } from 'kysely'

/** An update or a deletion that has not run yet. */
interface Change {
  executeTakeFirst(): Promise<UpdateResult | DeleteResult>
}

/** Runs an update or a deletion; returns the number of rows that it met. */
export async function changeRows(change: Change): Promise<number> {
  const result = await change.executeTakeFirst()
  return Number('numUpdatedRows' in result ? result.numUpdatedRows : result.numDeletedRows)
}

/** The number of rows of a query that selects no columns. */
export async function countRows<DB, Table extends keyof DB>(
  query: SelectQueryBuilder<DB, Table, Record<never, never>>,
): Promise<number> {
  const counting = query.select(({ fn }) => fn.countAll().as('count')).$castTo<{ count: number | string }>()
  return Number((await counting.executeTakeFirstOrThrow()).count)
}
