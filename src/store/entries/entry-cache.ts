import { LRUCache } from 'lru-cache'
import { upTo } from '../../common/lru.ts'
import type { Reference, StoredEntry } from '../store.ts'

/** Bounds: characters of the documents of cached entries, and cached names. */
const defaultCharacters = 64_000_000
const cachedNames = 20_000

/** An entry and the characters of its document. */
export interface Loaded {
  readonly entry: StoredEntry
  readonly size: number
}

/** Caches entries as read and parsed. The reader's `Validity` removes entries that changed. */
export interface EntryCache {
  /** The last committed revision, if it is known. */
  revision: number | undefined
  find(reference: Reference): StoredEntry | undefined
  keep(loaded: Loaded): void
  forget(ids: Iterable<string>): void
  /** Removes everything. */
  clear(): void
}

export function createEntryCache(maxSize = defaultCharacters): EntryCache {
  const entries = new LRUCache<string, StoredEntry>({ maxSize })
  const ids = new LRUCache<string, string>(upTo(cachedNames))

  function byName(name: string): StoredEntry | undefined {
    const entry = entries.get(ids.get(name) ?? '')
    return entry?.package_name === name ? entry : undefined
  }

  return {
    revision: undefined,
    find: (reference) => ('id' in reference ? entries.get(reference.id) : byName(reference.package_name)),
    keep({ entry, size }) {
      entries.set(entry.id, entry, { size })
      ids.set(entry.package_name, entry.id)
    },
    forget(those) {
      for (const id of those) entries.delete(id)
    },
    clear() {
      entries.clear()
      ids.clear()
      this.revision = undefined
    },
  }
}
