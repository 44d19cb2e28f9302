import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy, isCorrupt } from './faults.ts'

const maxLines = 10

/**
 * Checks the database if its last process did not close it: the last connection that closes removes the write-ahead
 * log. Returns the damage that SQLite found, an empty list if there is none. Undefined without a check: no log was
 * left, or another process uses the database. Throws for a file that is not a database.
 */
export function checkAfterUncleanEnd(path: string): readonly string[] | undefined {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (!log?.size) return undefined
  using database = new DatabaseSync(path, { timeout: 0 })
  try {
    // Fails with SQLITE_BUSY while another process has a connection.
    database.exec('pragma locking_mode = exclusive; begin immediate; rollback')
  } catch (fault) {
    if (isBusy(fault)) return undefined
    if (isCorrupt(fault)) return [fault.message]
    throw fault
  }
  return damageIn(database)
}

/**
 * The damage that SQLite finds in a database that other processes may use, an empty list if there is none. Throws for a
 * file that is not a database.
 */
export function damageOf(path: string): readonly string[] {
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
  return damageIn(database)
}

function damageIn(database: DatabaseSync): readonly string[] {
  try {
    const lines = database.prepare(`pragma quick_check(${maxLines})`).all()
    return lines.map(({ quick_check }) => String(quick_check)).filter((line) => line !== 'ok')
  } catch (fault) {
    // Such damage ends the check itself. What the start does not read may still be in order.
    if (isCorrupt(fault)) return [fault.message]
    throw fault
  }
}
