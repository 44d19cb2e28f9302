import type { Filter } from '../../search-index.ts'

/** The only columns that conditions name. */
type Column = 'id' | 'state' | 'owner' | 'target' | 'category'

/** The filter in LanceDB's SQL, undefined where all are wanted. Every value is a quoted literal. */
export function renderFilter({ state, owner, target, category, tags = [] }: Filter): string | undefined {
  const conditions = [
    ...equals('state', state),
    ...equals('owner', owner),
    ...equals('target', target?.toLowerCase()),
    ...equals('category', category?.toLowerCase()),
    // A list that is wanted whole, so that one value never is part of another.
    ...tags.map((tag) => `array_has(tags, ${quote(tag.toLowerCase())})`),
  ]
  return conditions.length === 0 ? undefined : conditions.join(' AND ')
}

/** The rows of these entries. */
export function renderIds(ids: readonly string[]): string {
  const column: Column = 'id'
  return ids.length === 0 ? 'false' : `${column} IN (${ids.map(quote).join(', ')})`
}

function equals(column: Column, value: string | undefined): string[] {
  return value === undefined ? [] : [`${column} = ${quote(value)}`]
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}
