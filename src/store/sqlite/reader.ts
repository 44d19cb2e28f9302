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

  function refresh(): void {
    const now = dataVersion()
    if (now === version) return
    entries.clear()
    ids.clear()
    revision = undefined
    version = now
  }

  function keep(entry: StoredEntry): StoredEntry {
    entries.set(entry.id, entry)
    ids.set(entry.package_name, entry.id)
    return entry
  }

  async function load(missing: readonly string[]): Promise<void> {
    for (let start = 0; start < missing.length; start += slice) {
      const some = missing.slice(start, start + slice)
      const rows = await db.selectFrom('entry').select(['id', 'document']).where('id', 'in', some).execute()
      for (const row of rows) keep(parseEntry(row))
    }
  }

  function cached(reference: Reference): StoredEntry | undefined {
    const id = 'id' in reference ? reference.id : ids.get(reference.package_name)
    return id === undefined ? undefined : entries.get(id)
  }

  return {
    async entry(reference) {
      refresh()
      const known = cached(reference)
      if (known) return known
      const found = await findEntry(db, reference)
      return found && keep(found)
    },
    async entries(wanted) {
      refresh()
      const missing = wanted.filter((id) => !entries.has(id))
      if (missing.length > 0) await load(missing)
      return wanted.flatMap((id) => entries.get(id) ?? [])
    },
    async revision() {
      refresh()
      revision ??= await currentRevision(db)
      return revision
    },
  }
}
