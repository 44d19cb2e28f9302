import { LRUCache } from 'lru-cache'
import { upTo } from '../../common/lru.ts'
import type { EntryTable } from '../sql/tables.ts'
import type { Reference } from '../store.ts'
import { type StoredEntry, UnreadableEntry } from '../stored-entry.ts'
import { parseEntry } from './group-commit/decision-reads.ts'

/** Bounds: characters of the documents of cached entries, and cached names. */
const defaultCharacters = 16_000_000
const cachedNames = 20_000

/** An entry and the characters of its document. */
export interface Loaded {
  readonly entry: StoredEntry
  readonly size: number
}

/** A row whose document is not parsed yet. */
export type EntryRow = Pick<EntryTable, 'id' | 'document'>

export function toLoaded(row: EntryRow): Loaded {
  return { entry: parseEntry(row), size: row.document.length }
}

/** Caches entries as read and parsed. The reader's `Validity` removes entries that changed. */
export interface EntryCache {
  /** The last committed revision, if it is known. */
  revision: number | undefined
  find(reference: Reference): StoredEntry | undefined
  keep(loaded: Loaded): void
  /** Replaces entries by what a commit wrote, in the order of the revisions, the last of which is the last of all. */
  write(rows: readonly EntryTable[]): void
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

  function keep({ entry, size }: Loaded): void {
    entries.set(entry.id, entry, { size })
    ids.set(entry.package_name, entry.id)
  }

  function keepRow(row: EntryTable): void {
    try {
      keep(toLoaded(row))
    } catch (fault) {
      if (!(fault instanceof UnreadableEntry)) throw fault
      // The row is written although it cannot be parsed; its readers get the error.
      entries.delete(row.id)
    }
  }

  return {
    revision: undefined,
    find: (reference) => ('id' in reference ? entries.get(reference.id) : byName(reference.package_name)),
    keep,
    write(rows) {
      for (const row of rows) keepRow(row)
      this.revision = rows.at(-1)?.revision ?? this.revision
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
