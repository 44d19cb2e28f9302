import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'

/** The column types of a dialect for texts, whole numbers below 2^53 and bytes. */
interface ColumnTypes {
  readonly text: 'text' | RawBuilder<unknown>
  readonly integer: 'integer' | 'bigint'
  readonly bytes: RawBuilder<unknown>
}

/** PostgreSQL sorts texts by their bytes, as SQLite does, whatever the locale of the database. */
export function columnTypes(db: Kysely<unknown>): ColumnTypes {
  return isPostgres(db)
    ? { text: sql`text collate "C"`, integer: 'bigint', bytes: sql`bytea` }
    : { text: 'text', integer: 'integer', bytes: sql`blob` }
}

export function isPostgres(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
