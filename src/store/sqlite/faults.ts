import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { retryFor } from '../../common/retry.ts'
import { ReplacedStore, type WriteRefusal } from '../store-health.ts'

const busy = 5
const readOnly = 8
const ioError = 10
const corrupt = 11
const full = 13
const cannotOpen = 14

/** Translates SQLite's result codes (sqlite.org/rescode.html) that a caller can act on. */
export function storeFailure(thrown: unknown): unknown {
  const code = resultCode(thrown)
  if (code === full)
    return new Failure('storage_full', 'The disk is full; the change was not written.', {}, thrown)
  if (code === busy) {
    return new Failure('unavailable', 'The store is busy; nothing was written.', { retry_after_s: 1 }, thrown)
  }
  if (code === readOnly || code === ioError) {
    return new Failure('unavailable', 'The store cannot be written; the change was not written.', {}, thrown)
  }
  return thrown
}

/** True if the database or the files beside it cannot be written. */
export function isReadOnly(thrown: unknown): boolean {
  const code = resultCode(thrown)
  return code === readOnly || code === cannotOpen
}

/** True while another connection writes. */
export function isBusy(thrown: unknown): boolean {
  return resultCode(thrown) === busy
}

/** Why the database refuses every write; undefined for other errors. */
export function refusalOf(thrown: unknown): WriteRefusal | undefined {
  if (thrown instanceof ReplacedStore) return 'store_replaced'
  const code = resultCode(thrown)
  if (code === full) return 'storage_full'
  return code === readOnly ? 'read_only' : undefined
}

/** True for damage that SQLite has found in the database. */
export function isCorrupt(thrown: unknown): thrown is Error {
  return thrown instanceof Error && resultCode(thrown) === corrupt
}

/**
 * Repeats `work` for up to five seconds while another connection writes. SQLite's own busy time-out would block the
 * event loop, and so the other connection too if this process holds it.
 */
export function retryWhileBusy<T>(work: () => Promise<T>): Promise<T> {
  return retryFor(work, isBusy, { within_ms: 5000, first_ms: 1, max_ms: 50 })
}

/** The primary result code; undefined for errors of other origin. */
function resultCode(thrown: unknown): number | undefined {
  if (!isRecord(thrown) || thrown.code !== 'ERR_SQLITE_ERROR') return undefined
  return typeof thrown.errcode === 'number' ? thrown.errcode & 0xff : undefined
}
