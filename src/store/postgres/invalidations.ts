import type { EventEmitter } from 'node:events'
import { sql } from 'kysely'
import type { EntryCache } from '../entries/entry-cache.ts'
import type { Validity } from '../entries/reader.ts'
import type { CounterTable, Database, EntryTable } from '../sql/tables.ts'
import { type Counters, selectCounters, toCounters } from './counters.ts'

/** The start of a read of the counters: its time, by `performance.now()`, and the revision announced by then. */
interface ReadStart {
  readonly at: number
  readonly announced: number
}

/** Cached entries are served without a query for this long after the last answer of the database. */
const maxSilence_ms = 2000
/** Maximum changes of one read; if there are more, the whole cache is dropped. */
const maxCatchUp = 1000

/**
 * Invalidates the entry cache of this process by the commits of all processes. A cached entry is valid until a revision
 * that changed it is announced, and for at most two seconds without an answer of the database. Commits of this process
 * are announced at once, those of others by the listener.
 *
 * Between two awaits holds:
 * - The cache lacks every entry that changed up to `#applied`, or has it as it is at that revision or later. Only
 *   `#apply` moves `#applied`, and the cache with it: one catch-up at a time, and no commit of this process meanwhile.
 * - `#applied` is at most `#announced`. Only while they are equal are cached entries served.
 * - `#announced` falls only when the database was restored to an earlier state.
 * - Each announcement changes the version, so that a read that began before it is not cached.
 */
export class Invalidations implements Validity {
  readonly #db: Database
  readonly #cache: EntryCache
  readonly #commits: EventEmitter
  #version = 0
  /** The last revision that is known to be committed. */
  #announced: number
  /** The last revision whose changes have been dropped from the cache. */
  #applied: number
  #identity: number
  #answeredAt = performance.now()
  #catchingUp: Promise<void> | undefined
  #reading: Promise<void> | undefined
  #nextRead: Promise<void> | undefined

  constructor(db: Database, cache: EntryCache, commits: EventEmitter, first: Counters) {
    this.#db = db
    this.#cache = cache
    this.#commits = commits
    this.#announced = first.revision
    this.#applied = first.revision
    this.#identity = first.identity
    cache.revision = first.revision
  }

  /** Differs after each commit that was announced. */
  version(): number {
    return this.#version
  }

  settle(): Promise<void> | undefined {
    const isSilent = performance.now() - this.#answeredAt >= maxSilence_ms
    return this.#announced === this.#applied && !isSilent ? undefined : this.#catchUpTo(this.#announced)
  }

  /** Callers during a read share the next read: the answer of the current read may be older than their call. */
  ask(): Promise<void> {
    if (!this.#reading) {
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined
      })
      return this.#reading
    }
    this.#nextRead ??= this.#reading
      .catch(() => {})
      .then(() => {
        this.#nextRead = undefined
        return this.ask()
      })
    return this.#nextRead
  }

  /** Announces a commit that takes no revision. */
  announce(): void {
    this.#version += 1
    this.#commits.emit('commit')
  }

  /**
   * To be called when the database can be read again: after a failover it may lack commits that are cached, and others
   * may have committed as many since.
   */
  reconnected(): void {
    this.#cache.clear()
    this.announce()
  }

  /** Announces a committed revision, of any process. */
  announceRevision(revision: number): void {
    if (revision <= this.#announced) return
    this.#announced = revision
    this.announce()
  }

  /**
   * Announces the entries of a commit of this process, in the order of their revisions, which are consecutive. The
   * entries go straight into the cache if no other process has committed since. Without rows, any entry may have
   * changed, without a revision.
   */
  announceWritten(rows: readonly EntryTable[] | undefined): void {
    if (!rows) {
      this.#cache.clear()
      this.announce()
      return
    }
    const [first, last] = [rows[0], rows.at(-1)]
    if (!first || !last) return
    const isNext = this.#announced === this.#applied && this.#applied === first.revision - 1
    if (!this.#catchingUp && isNext) {
      this.#apply(last.revision, () => this.#cache.write(rows))
    }
    this.announceRevision(last.revision)
  }

  /** To be called before the counters are read; `finishRead` takes the result. */
  startRead(): ReadStart {
    return { at: performance.now(), announced: this.#announced }
  }

  /** Announces the result of a read of the counters. */
  finishRead(counters: Counters, { at, announced }: ReadStart): void {
    this.#answeredAt = Math.max(this.#answeredAt, at)
    if (counters.identity !== this.#identity) this.announce()
    this.#identity = counters.identity
    if (counters.revision < announced) this.#restart(counters.revision)
    else this.announceRevision(counters.revision)
  }

  /** Drops from the cache the entries that changed since `#applied`, or all entries if many changed. */
  async #catchUp(): Promise<void> {
    const { at, announced } = this.startRead()
    const rows = await this.#db
      .selectFrom('change')
      .select(['revision', 'entry_id'])
      .where('revision', '>', this.#applied)
      .orderBy('revision')
      .limit(maxCatchUp)
      .execute()
    const last = rows.at(-1)?.revision ?? this.#applied
    if (rows.length < maxCatchUp && last < announced) return this.#restart(last)
    this.#apply(last, () => {
      if (rows.length < maxCatchUp) this.#cache.forget(rows.map((row) => row.entry_id))
      else this.#cache.clear()
    })
    this.#answeredAt = Math.max(this.#answeredAt, at)
    this.announceRevision(last)
  }

  /** The database was restored to an earlier state: announced revisions no longer exist. */
  #restart(revision: number): void {
    this.#apply(revision, () => this.#cache.clear())
    this.#announced = revision
    this.announce()
  }

  async #read(): Promise<void> {
    const start = this.startRead()
    this.finishRead(toCounters((await sql.raw<CounterTable>(selectCounters).execute(this.#db)).rows), start)
  }

  async #catchUpTo(target: number): Promise<void> {
    do {
      this.#catchingUp ??= this.#catchUp().finally(() => {
        this.#catchingUp = undefined
      })
      await this.#catchingUp
    } while (this.#applied < Math.min(target, this.#announced))
  }

  /** Makes the cache one of a revision. */
  #apply(revision: number, change: () => void): void {
    change()
    this.#applied = revision
    this.#cache.revision = revision
  }
}
