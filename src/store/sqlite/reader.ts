import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Reader, Reference, StoredEntry } from '../store.ts'
import type { Tables } from '../tables.ts'
import { currentRevision, findEntry, parseEntry } from '../writer.ts'

const cachedEntries = 20_000
const slice = 500

/**
 * What was read is kept, parsed, for as long as SQLite's `data_version` says that nobody has committed: an
 * answer is always the truth, and a repeated one costs no SQL and is the same object.
 */
export function createReader(db: Kysely<Tables>, dataVersion: () => number): Reader {
  const entries = new LRUCache<string, StoredEntry>({ max: cachedEntries })
  const ids = new LRUCache<string, string>({ max: cachedEntries })
  let revision: number | undefined
  let version = Number.NaN

  /** Forgets everything where somebody has committed; the version that what is kept belongs to. */
  function refresh(): number {
    const now = dataVersion()
    if (now === version) return now
    entries.clear()
    ids.clear()
    revision = undefined
    version = now
    return now
  }

  /** Reads, and keeps what was read only where nobody has committed meanwhile. */
  async function read<T>(work: () => Promise<T>, keep: (result: T) => void): Promise<T> {
    const before = refresh()
    const result = await work()
    if (refresh() === before) keep(result)
    return result
  }

  function keepEntry(entry: StoredEntry | undefined): void {
    if (!entry) return
    entries.set(entry.id, entry)
    ids.set(entry.package_name, entry.id)
  }

  async function load(missing: readonly string[]): Promise<StoredEntry[]> {
    const found: StoredEntry[] = []
    for (let start = 0; start < missing.length; start += slice) {
      const some = missing.slice(start, start + slice)
      const rows = await db.selectFrom('entry').select(['id', 'document']).where('id', 'in', some).execute()
      found.push(...rows.map(parseEntry))
    }
    return found
  }

  function cached(reference: Reference): StoredEntry | undefined {
    const id = 'id' in reference ? reference.id : ids.get(reference.package_name)
    return id === undefined ? undefined : entries.get(id)
  }

  return {
    async entry(reference) {
      refresh()
      return cached(reference) ?? (await read(() => findEntry(db, reference), keepEntry))
    },
    async entries(wanted) {
      refresh()
      const known = new Map(wanted.map((id) => [id, entries.get(id)]))
      const missing = wanted.filter((id) => !known.get(id))
      if (missing.length > 0) {
        const found = await read(
          () => load(missing),
          (loaded) => loaded.forEach(keepEntry),
        )
        for (const entry of found) known.set(entry.id, entry)
      }
      return wanted.flatMap((id) => known.get(id) ?? [])
    },
    async revision() {
      refresh()
      return (
        revision ??
        (await read(
          () => currentRevision(db),
          (now) => {
            revision = now
          },
        ))
      )
    },
  }
}
