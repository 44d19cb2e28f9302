import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'

/** What a text, a whole number below 2^53 and bytes are called in the dialect of `db`. */
interface ColumnTypes {
  readonly text: 'text' | RawBuilder<unknown>
  readonly integer: 'integer' | 'bigint'
  readonly bytes: RawBuilder<unknown>
}

/** On PostgreSQL texts sort by their bytes, as on SQLite, whatever the database's own language. */
export function columnTypes(db: Kysely<unknown>): ColumnTypes {
  return isPostgres(db)
    ? { text: sql`text collate "C"`, integer: 'bigint', bytes: sql`bytea` }
    : { text: 'text', integer: 'integer', bytes: sql`blob` }
}

export function isPostgres(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
