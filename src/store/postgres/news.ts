import type { EventEmitter } from 'node:events'
import type { Kysely } from 'kysely'
import type { EntryCache } from '../entry-cache.ts'
import type { Validity } from '../reader.ts'
import type { Tables } from '../tables.ts'

/** What changes with the commits that somebody waits for. */
export interface Counters {
  readonly revision: number
  /** Of API keys and revocations. */
  readonly identity: number
}

/** What this process knows of commits, its own and those of others. */
export interface News {
  readonly validity: Validity
  /** Differs after each commit that was told. */
  version(): number
  /** A commit of our own that takes no revision. */
  tell(): void
  /** A revision that is committed, by whomever. */
  know(revision: number): void
  /** What a question that was put at `asked`, by `performance.now()`, found. */
  heard(found: Counters, asked: Asked): void
  /** When a question is put, and what was known then. */
  ask(): Asked
}

export interface Asked {
  readonly at: number
  readonly told: number
}

/** As long after the last word from the database, what is kept still stands unasked. */
const trustMilliseconds = 2000
const longestCatchUp = 1000

/**
 * An entry that was read stands until a revision is told in which it changed, and for at most two seconds without
 * word from the database. Own commits are told at once, those of others by the ear.
 */
export function createNews(
  db: Kysely<Tables>,
  cache: EntryCache,
  commits: EventEmitter,
  first: Counters,
): News {
  let version = 0
  let told = first.revision
  let applied = first.revision
  let identity = first.identity
  let heardAt = performance.now()
  let catching: Promise<void> | undefined
  cache.revision = applied

  function tell(): void {
    version += 1
    commits.emit('commit')
  }

  /** Drops from the cache what has changed since `applied`, or the first thousand of it. */
  async function catchUp(): Promise<void> {
    const asked = { at: performance.now(), told }
    const rows = await db
      .selectFrom('change')
      .select(['revision', 'entry_id'])
      .where('revision', '>', applied)
      .orderBy('revision')
      .limit(longestCatchUp)
      .execute()
    const last = rows.at(-1)?.revision ?? applied
    if (rows.length < longestCatchUp && last < asked.told) return restart(last)
    if (rows.length < longestCatchUp) cache.forget(rows.map((row) => row.entry_id))
    else cache.clear()
    applied = last
    cache.revision = last
    heardAt = Math.max(heardAt, asked.at)
    know(last)
  }

  /** The database was restored to an earlier day: what was told is no longer so. */
  function restart(revision: number): void {
    cache.clear()
    cache.revision = applied = told = revision
    tell()
  }

  function know(revision: number): void {
    if (revision <= told) return
    told = revision
    tell()
  }

  async function settle(): Promise<void> {
    const target = told
    do {
      catching ??= catchUp().finally(() => {
        catching = undefined
      })
      await catching
    } while (applied < Math.min(target, told))
  }

  return {
    version: () => version,
    ask: () => ({ at: performance.now(), told }),
    tell,
    know,
    heard(found, asked) {
      heardAt = Math.max(heardAt, asked.at)
      if (found.identity !== identity) tell()
      identity = found.identity
      if (found.revision < asked.told) restart(found.revision)
      else know(found.revision)
    },
    validity: {
      version: () => told,
      settle: () =>
        told === applied && performance.now() - heardAt < trustMilliseconds ? undefined : settle(),
    },
  }
}
