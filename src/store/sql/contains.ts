import { type RawBuilder, sql } from 'kysely'

/** True where the text of a column contains a text, in either dialect; caseless: the text is in lower case. */
export function contains(column: string, text: string, { caseless = false } = {}): RawBuilder<boolean> {
  const pattern = `%${text.replace(/[%_\\]/g, '\\$&')}%`
  const searched = caseless ? sql`lower(${sql.ref(column)})` : sql.ref(column)
  return sql`${searched} like ${pattern} escape '\\'`
}
