import type { Kysely } from 'kysely'
import { Failure } from '../../schemas/failure.ts'
import { loadMigrations, migrationNames } from './migrations/index.ts'

/**
 * Brings the schema up to date, forward only. Returns the migrations that an upgrade ran: none for a new database.
 * Throws the error of the failing migration.
 */
export async function migrate<Tables>(db: Kysely<Tables>): Promise<readonly string[]> {
  const made = await madeMigrations(db as Kysely<unknown>).catch(() => [])
  if (isEqual(made, migrationNames)) return []
  const { Migrator } = await import('kysely/migration')
  const { error, results = [] } = await new Migrator({
    db,
    provider: { getMigrations: loadMigrations },
  }).migrateToLatest()
  if (!error) return made.length === 0 ? [] : results.map(({ migrationName }) => migrationName)
  const newer = made.filter((name) => !migrationNames.includes(name))
  if (newer.length === 0) throw error
  throw new Failure('not_configured', `The store was made by a newer version (${newer.join(', ')}).`, {
    hint: 'Start that version, or restore the backup from before the upgrade.',
  })
}

/** Throws Failure `not_configured` for a database of another version, if it cannot be brought up to date. */
export async function assertMigrated<Tables>(db: Kysely<Tables>): Promise<void> {
  if (isEqual(await madeMigrations(db as Kysely<unknown>), migrationNames)) return
  throw new Failure('not_configured', 'The store cannot be written, and was made by another version.', {
    hint: 'Copy it to a disk that can be written, or use the version that made it.',
  })
}

/** Names of the migrations that this database has, in their order. */
async function madeMigrations(db: Kysely<unknown>): Promise<string[]> {
  const migrated = db as Kysely<{ kysely_migration: { name: string } }>
  const rows = await migrated.selectFrom('kysely_migration').select('name').execute()
  return rows.map(({ name }) => name).sort()
}

function isEqual(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((name, index) => name === right[index])
}
