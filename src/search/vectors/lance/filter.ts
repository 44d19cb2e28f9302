import { type AttributeFilter, conditionsOf, isList } from '../attributes.ts'

/** The filter in LanceDB's SQL; undefined for an empty filter. Every value is a quoted literal. */
export function renderFilter(filter: AttributeFilter): string | undefined {
  const conditions = conditionsOf(filter).map(([column, value]) =>
    // A value of a list is compared as a whole, so that it never matches a part of another value.
    isList(column) ? `array_has(${column}, ${quote(value)})` : `${column} = ${quote(value)}`,
  )
  return conditions.length === 0 ? undefined : conditions.join(' AND ')
}

/** The rows of these entries. */
export function renderIds(ids: readonly string[]): string {
  return ids.length === 0 ? 'false' : `id IN (${ids.map(quote).join(', ')})`
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}
