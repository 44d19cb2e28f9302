import { Failure } from '../../schemas/failure.ts'
import { ensurePrivateFile } from '../common/private-file.ts'
import { retryFor } from '../common/retry.ts'
import { isBusy } from '../store/sqlite/faults.ts'

const pauses = { first_ms: 10, max_ms: 50 }

/**
 * Holds the lock of a file until it is disposed, alone among the processes of this machine. The lock is SQLite's, so the
 * system releases it when its holder dies. Throws Failure `unavailable` if another process holds it for `within_ms`.
 */
export async function takeLock(file: string, within_ms: number): Promise<Disposable> {
  const path = `${file}.lock.sqlite`
  const { DatabaseSync } = await import('node:sqlite')
  ensurePrivateFile(path)
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    await retryFor(async () => lock.exec('begin exclusive'), isBusy, { ...pauses, within_ms })
  } catch (fault) {
    lock.close()
    if (!isBusy(fault)) throw fault
    throw new Failure('unavailable', `Another command holds ${path}. Try again later.`)
  }
  return { [Symbol.dispose]: () => lock.close() }
}
