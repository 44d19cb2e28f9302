import type { EventEmitter } from 'node:events'
import type { EntryCache } from '../entries/entry-cache.ts'
import type { Validity } from '../entries/reader.ts'

/**
 * What is kept stands for as long as SQLite's `data_version` says that nobody has committed. The version is asked
 * once a turn of the event loop, after each commit of this store, and by whoever must know what is committed by now:
 * a request may come in the middle of a turn, and so may a commit of another process that its caller knows of.
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

  /** Forgets everything where somebody has committed. */
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
