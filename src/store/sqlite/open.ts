import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ensurePrivateFile, makePrivateFolder } from '../../common/private-file.ts'

/**
 * Opens or creates a database file that several processes may share: WAL, synced at each commit, a wait of up to five
 * seconds for another writer. Deleted rows are overwritten.
 */
export function openDatabase(path: string): DatabaseSync {
  makePrivateFolder(dirname(path))
  // The files beside the database (-wal, -shm) get its mode.
  ensurePrivateFile(path)
  const database = new DatabaseSync(path, { timeout: 5000 })
  try {
    database.exec(
      'pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = on',
    )
  } catch (error) {
    database.close()
    throw error
  }
  return database
}
