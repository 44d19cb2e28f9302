import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Kysely } from 'kysely'
import { createDump, type Dump } from '../dump-restore.ts'
import { assertMigrated } from '../migrate.ts'
import type { Tables } from '../sql/tables.ts'
import { sqliteDialect } from './dialect.ts'
import { snapshotOf } from './snapshot.ts'

/** The contents of a database that this process cannot write. Throws Failure `not_configured` for one of another version. */
export async function openReadOnlyDump(path: string): Promise<Dump & AsyncDisposable> {
  const database = openReadOnly(path)
  const reader = new Kysely<Tables>({ dialect: sqliteDialect(database) })
  try {
    await assertMigrated(reader)
  } catch (fault) {
    database.close()
    throw fault
  }
  return {
    ...createDump(snapshotOf(reader)),
    async [Symbol.asyncDispose]() {
      await reader.destroy()
      database.close()
    },
  }
}

/** Without files beside the database nobody writes it, and SQLite could not make them (sqlite.org/wal.html, 7). */
function openReadOnly(path: string): DatabaseSync {
  const address = pathToFileURL(path)
  if (!statSync(`${path}-wal`, { throwIfNoEntry: false })) address.searchParams.set('immutable', '1')
  return new DatabaseSync(address, { readOnly: true, timeout: 5000 })
}
