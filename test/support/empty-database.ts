import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from './command.ts'

let empty: Promise<Buffer> | undefined

/** Writes an SQLite database with its tables and no rows: a copy takes less time than the migrations. */
export async function writeEmptyDatabase(path: string): Promise<void> {
  empty ??= migrated()
  await writeFile(path, await empty, { mode: 0o600 })
}

async function migrated(): Promise<Buffer> {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'registry.sqlite')
  await (await openSqliteStore(path))[Symbol.asyncDispose]()
  return await readFile(path)
}
