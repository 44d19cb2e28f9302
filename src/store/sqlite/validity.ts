import type { EventEmitter } from 'node:events'
import type { EntryCache } from '../entries/entry-cache.ts'
import type { Validity } from '../entries/reader.ts'

/**
 * Cached entries are valid while SQLite's `data_version` shows no commit of another connection. It is read once a
 * turn of the event loop, after each commit of this store, and by callers that must see everything committed by now: a
 * request may arrive in the middle of a turn, and so may a commit of another process that the caller knows of.
 */
export function createValidity(
  cache: EntryCache,
  dataVersion: () => number,
  commits: EventEmitter,
): Validity {
  let seen = Number.NaN
  let isFresh = false
  const expire = () => {
    isFresh = false
  }
  commits.on('commit', expire)

  /** Clears the cache if another connection has committed. */
  function version(): number {
    const now = dataVersion()
    if (now !== seen) cache.clear()
    seen = now
    return now
  }

  return {
    version,
    async ask() {
      version()
    },
    settle() {
      if (isFresh) return undefined
      version()
      isFresh = true
      setImmediate(expire)
      return undefined
    },
  }
}
