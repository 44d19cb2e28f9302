import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Reader, StoredEntry } from '../store.ts'
import type { Tables } from '../tables.ts'
import { currentRevision, findEntry, parseEntry } from '../writer.ts'

const cachedEntries = 20_000
const slice = 500

/**
 * Reads by id are kept parsed for as long as SQLite's `data_version` says that nobody has committed, so an
 * answer is always the truth and a repeated one costs no SQL.
 */
export function createReader(db: Kysely<Tables>, dataVersion: () => number): Reader {
  const cache = new LRUCache<string, StoredEntry>({ max: cachedEntries })
  let version = Number.NaN

  function refresh(): void {
    const now = dataVersion()
    if (now !== version) cache.clear()
    version = now
  }

  async function load(ids: readonly string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += slice) {
      const some = ids.slice(start, start + slice)
      const rows = await db.selectFrom('entry').select(['id', 'document']).where('id', 'in', some).execute()
      for (const row of rows) cache.set(row.id, parseEntry(row.document))
    }
  }

  return {
    entry: (reference) => findEntry(db, reference),
    async entries(ids) {
      refresh()
      const missing = ids.filter((id) => !cache.has(id))
      if (missing.length > 0) await load(missing)
      return ids.flatMap((id) => cache.get(id) ?? [])
    },
    revision: () => currentRevision(db),
  }
}
