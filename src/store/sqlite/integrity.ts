import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { isBusy, isCorrupt } from './faults.ts'

const maxLines = 10

/**
 * True if the last process did not close the database, and no other process uses it: the last connection that closes
 * removes the write-ahead log. Throws for a file that is not a database.
 */
export function endedUncleanly(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (!log?.size) return false
  using database = new DatabaseSync(path, { timeout: 0 })
  try {
    // Fails with SQLITE_BUSY while another process has a connection.
    database.exec('pragma locking_mode = exclusive; begin immediate; rollback')
  } catch (fault) {
    if (isBusy(fault)) return false
    if (!isCorrupt(fault)) throw fault
  }
  return true
}

/**
 * Checks the database in a thread, since a check of 10 GB takes a minute, and calls `onDamage` with the damage, an empty
 * list if there is none. `worker` is integrity-worker.ts, or its build output. Disposing it ends the check.
 */
export function checkInThread(
  path: string,
  worker: URL,
  onDamage: (damage: readonly string[]) => void,
): AsyncDisposable {
  const thread = new Worker(worker, { workerData: path, env: {}, execArgv: [] })
  thread.once('message', onDamage)
  thread.once('error', (fault) => onDamage([String(fault)]))
  thread.unref()
  return {
    async [Symbol.asyncDispose]() {
      thread.removeAllListeners()
      await thread.terminate()
    },
  }
}

/**
 * The damage that SQLite finds in a database that other processes may use, an empty list if there is none. Throws for a
 * file that is not a database.
 */
export function damageOf(path: string): readonly string[] {
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
  try {
    const lines = database.prepare(`pragma quick_check(${maxLines})`).all()
    return lines.map(({ quick_check }) => String(quick_check)).filter((line) => line !== 'ok')
  } catch (fault) {
    // Such damage ends the check itself. What the start does not read may still be in order.
    if (isCorrupt(fault)) return [fault.message]
    throw fault
  }
}
