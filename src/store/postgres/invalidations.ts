import type { EventEmitter } from 'node:events'
import { type Kysely, sql } from 'kysely'
import type { EntryCache } from '../entries/entry-cache.ts'
import { parseEntry } from '../entries/group-commit/decision-reads.ts'
import type { Validity } from '../entries/reader.ts'
import type { CounterTable, EntryTable, Tables } from '../sql/tables.ts'
import { UnreadableEntry } from '../store.ts'
import { askCounters, type Counters, toCounters } from './counters.ts'

/** What this process knows of commits, its own and those of others. */
export interface News {
  readonly validity: Validity
  /** Differs after each commit that was told. */
  version(): number
  /** A commit of our own that takes no revision. */
  tell(): void
  /** A revision that is committed, by whomever. */
  know(revision: number): void
  /** Entries of a commit of our own, in the order of their revisions, which follow one another. */
  wrote(rows: readonly EntryTable[]): void
  /** What a question that was put at `asked`, by `performance.now()`, found. */
  heard(found: Counters, asked: Asked): void
  /** When a question is put, and what was known then. */
  ask(): Asked
}

interface Asked {
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

  /** Where nobody else has committed meanwhile, what we wrote need not be read. */
  function wrote(rows: readonly EntryTable[]): void {
    const [first, last] = [rows[0], rows.at(-1)]
    if (!first || !last) return
    if (!catching && told === applied && applied === first.revision - 1) {
      for (const row of rows) keep(row)
      cache.revision = applied = last.revision
    }
    know(last.revision)
  }

  function keep(row: EntryTable): void {
    try {
      cache.keep({ entry: parseEntry(row), size: row.document.length })
    } catch (fault) {
      if (!(fault instanceof UnreadableEntry)) throw fault
      // It is written; whoever reads it is told.
      cache.forget([row.id])
    }
  }

  let asking: Promise<void> | undefined
  let askingNext: Promise<void> | undefined

  async function ask(): Promise<void> {
    const asked = { at: performance.now(), told }
    heard(toCounters((await sql.raw<CounterTable>(askCounters).execute(db)).rows), asked)
  }

  /** Those who ask while a question is under way share the next one: the answer to that one may be from before. */
  function askTogether(): Promise<void> {
    if (!asking) {
      asking = ask().finally(() => {
        asking = undefined
      })
      return asking
    }
    askingNext ??= asking
      .catch(() => {})
      .then(() => {
        askingNext = undefined
        return askTogether()
      })
    return askingNext
  }

  function heard(found: Counters, asked: Asked): void {
    heardAt = Math.max(heardAt, asked.at)
    if (found.identity !== identity) tell()
    identity = found.identity
    if (found.revision < asked.told) restart(found.revision)
    else know(found.revision)
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
    wrote,
    heard,
    validity: {
      version: () => told,
      ask: askTogether,
      settle: () =>
        told === applied && performance.now() - heardAt < trustMilliseconds ? undefined : settle(),
    },
  }
}
