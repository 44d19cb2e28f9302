import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { Failure } from '../../schemas/failure.ts'
import { migrations } from './migrations/index.ts'

/** Brings the schema up to date, forward only. Throws the error of the failing migration. */
export async function migrate<Tables>(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } })
  const { error } = await migrator.migrateToLatest()
  if (!error) return
  const newer = await unknownMigrations(db as Kysely<unknown>).catch(() => [])
  if (newer.length === 0) throw error
  throw new Failure('not_configured', `The store was made by a newer version (${newer.join(', ')}).`, {
    hint: 'Start that version, or restore the backup from before the upgrade.',
  })
}

/** Names of migrations that this database has and this code does not. */
async function unknownMigrations(db: Kysely<unknown>): Promise<string[]> {
  const migrated = db as Kysely<{ kysely_migration: { name: string } }>
  const rows = await migrated.selectFrom('kysely_migration').select('name').execute()
  return rows.map(({ name }) => name).filter((name) => !Object.hasOwn(migrations, name))
}
