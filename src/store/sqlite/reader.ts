import type { EventEmitter } from 'node:events'
import { type Kysely, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { auditOf } from '../audit.ts'
import type { Reader, Reference, StoredEntry } from '../store.ts'
import type { Tables } from '../tables.ts'
import { currentRevision, type EntryRow, findRow, parseEntry } from '../writer.ts'

/** Characters of documents whose entries are kept, and names that are. */
const cachedCharacters = 64_000_000
const cachedNames = 20_000
const slice = 500

/**
 * What was read is kept, parsed, for as long as SQLite's `data_version` says that nobody has committed: a repeated
 * answer costs no SQL and is the same object. The version is asked once a turn of the event loop and after each
 * commit of this store: what a caller knows of was committed before its request came, and so before the turn.
 */
export function createReader(db: Kysely<Tables>, dataVersion: () => number, commits: EventEmitter): Reader {
  const entries = new LRUCache<string, StoredEntry>({ maxSize: cachedCharacters })
  const ids = new LRUCache<string, string>({ max: cachedNames })
  let revision: number | undefined
  let version = Number.NaN
  let isFresh = false
  const expire = () => {
    isFresh = false
  }
  commits.on('commit', expire)

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

  function refreshOnce(): void {
    if (isFresh) return
    refresh()
    isFresh = true
    setImmediate(expire)
  }

  /** Reads, and keeps what was read only where nobody has committed meanwhile. */
  async function read<T>(work: () => Promise<T>, keep: (result: T) => void): Promise<T> {
    const before = refresh()
    const result = await work()
    if (refresh() === before) keep(result)
    return result
  }

  function keepEntry({ entry, size }: Loaded): void {
    entries.set(entry.id, entry, { size })
    ids.set(entry.package_name, entry.id)
  }

  async function loadOne(reference: Reference): Promise<Loaded | undefined> {
    const row = await findRow(db, reference)
    return row && toLoaded(row)
  }

  async function load(missing: readonly string[]): Promise<Loaded[]> {
    const found: Loaded[] = []
    for (let start = 0; start < missing.length; start += slice) {
      const some = missing.slice(start, start + slice)
      const rows = await db.selectFrom('entry').select(['id', 'document']).where('id', 'in', some).execute()
      found.push(...rows.map(toLoaded))
    }
    return found
  }

  function cached(reference: Reference): StoredEntry | undefined {
    const id = 'id' in reference ? reference.id : ids.get(reference.package_name)
    return id === undefined ? undefined : entries.get(id)
  }

  return {
    async entry(reference) {
      refreshOnce()
      const known = cached(reference)
      if (known) return known
      const loaded = await read(
        () => loadOne(reference),
        (found) => found && keepEntry(found),
      )
      return loaded?.entry
    },
    async entries(wanted) {
      refreshOnce()
      const known = new Map(wanted.map((id) => [id, entries.get(id)]))
      const missing = wanted.filter((id) => !known.get(id))
      if (missing.length > 0) {
        const found = await read(
          () => load(missing),
          (loaded) => loaded.forEach(keepEntry),
        )
        for (const { entry } of found) known.set(entry.id, entry)
      }
      return wanted.flatMap((id) => known.get(id) ?? [])
    },
    async due(now, latest, limit) {
      const rows = await db
        .selectFrom('entry')
        .select('id')
        .where((row) => row.or([row('check_at', '<=', now), row('check_at', '>', latest)]))
        .orderBy('check_at')
        .limit(limit)
        .execute()
      return rows.map((row) => row.id)
    },
    async listedNames(prefix, limit) {
      const names = db
        .selectFrom('entry')
        .select('package_name')
        .where('package_name', '>=', prefix)
        .where('package_name', '<', `${prefix}\u{10ffff}`)
        .where(sql<boolean>`document ->> '$.state' = 'ACTIVE'`)
        .where(sql<boolean>`document ->> '$.suspended' is null and not document ->> '$.deleted'`)
      const rows = await names.orderBy('package_name').limit(limit).execute()
      return rows.map((row) => row.package_name)
    },
    audit: (entryId, limit, before) => auditOf(db, entryId, limit, before),
    async revision() {
      refreshOnce()
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

/** An entry and the characters of its document. */
interface Loaded {
  readonly entry: StoredEntry
  readonly size: number
}

function toLoaded(row: EntryRow): Loaded {
  return { entry: parseEntry(row), size: row.document.length }
}
