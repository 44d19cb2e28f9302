import type { Kysely } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { entries } from './0001-entries.ts'
import { embeddings } from './0002-embeddings.ts'
import { identity } from './0003-identity.ts'
import { trust } from './0004-trust.ts'
import { tasks } from './0005-tasks.ts'
import { playground } from './0006-playground.ts'
import { credentials } from './0007-credentials.ts'
import { liveness } from './0008-liveness.ts'
import { listed } from './0009-listed.ts'
import { changes } from './0012-changes.ts'

const migrations: Record<string, Migration> = {
  '0001-entries': entries,
  '0002-embeddings': embeddings,
  '0003-identity': identity,
  '0004-trust': trust,
  '0005-tasks': tasks,
  '0006-playground': playground,
  '0007-credentials': credentials,
  '0008-liveness': liveness,
  '0009-listed': listed,
  '0012-changes': changes,
}

/** Brings the schema up to date, forward only. Throws what the failing migration threw. */
export async function migrate<Tables>(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}
