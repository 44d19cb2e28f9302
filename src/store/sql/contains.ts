import { type RawBuilder, sql } from 'kysely'

/** True where the text of a column contains a text, in either dialect. */
export function contains(column: string, text: string): RawBuilder<boolean> {
  const pattern = `%${text.replace(/[%_\\]/g, '\\$&')}%`
  return sql`${sql.ref(column)} like ${pattern} escape '\\'`
}
