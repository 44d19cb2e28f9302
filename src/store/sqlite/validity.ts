import type { EntryCache } from '../entries/entry-cache.ts'
import type { Validity } from '../entries/reader.ts'
import type { EntryTable } from '../sql/tables.ts'

interface SqliteValidity extends Validity {
  /**
   * Caches the entries that a commit of this store has written, or drops all entries. Called in one step with the
   * commit.
   */
  committed(written: readonly EntryTable[] | undefined): void
}

/**
 * Cached entries are valid until a commit of this store writes them, or another process commits anything. The latter
 * changes `dataVersion`, which is read once a turn of the event loop, after each commit of this store, and by callers
 * that must see everything committed by now: a request may arrive in the middle of a turn, and so may a commit of
 * another process that the caller knows of.
 */
export function createValidity(cache: EntryCache, dataVersion: () => number): SqliteValidity {
  let seen = Number.NaN
  let own = 0
  let isFresh = false
  const expire = () => {
    isFresh = false
  }

  /** Clears the cache if another process has committed. */
  function version(): number {
    const now = dataVersion()
    if (now !== seen) cache.clear()
    seen = now
    return seen + own
  }

  return {
    version,
    committed(written) {
      own += 1
      expire()
      if (!written) return cache.clear()
      cache.revision = undefined
      cache.write(written)
    },
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
