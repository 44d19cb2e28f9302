import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Liveness } from '../../../schemas/liveness.ts'
import { abortable } from '../../common/abort.ts'
import { backoff } from '../../common/retry.ts'
import { SerialQueue } from '../../common/serial-queue.ts'
import type { EntryChange, SearchIndex } from '../../search/search-index.ts'
import type { Store, StoreChange } from '../../store/store.ts'
import { type StoredEntry, UnreadableEntry } from '../../store/stored-entry.ts'
import type { LivenessCache } from '../liveness/liveness-cache.ts'
import { toDocument } from './search-document.ts'

/** An index derived from the store, entry by entry. */
export type Derived = Pick<SearchIndex, 'applied_revision' | 'apply' | 'discard'>

export interface IndexTailerOptions {
  /**
   * With `omit` (the default), an entry that cannot be applied is left out, so that later changes are not blocked.
   * With `wait`, the tailer retries; this is for faults that the entry does not cause.
   */
  readonly onEntryFault?: 'omit' | 'wait'
  /** Refreshed for every change before it is applied. Without it, changes of liveness are ignored. */
  readonly livenessCache?: Pick<LivenessCache, 'of' | 'refresh'>
  /**
   * Names of the entries that are applied again once at the start: facts of this process, such as its settings, decide
   * on them too, and no change of the store tells of those.
   */
  readonly applied_anew?: readonly string[]
  /** Maximum time for which a write waits until this index has applied it, in milliseconds; 2000 when absent. */
  readonly write_wait_ms?: number
  /** Changes are applied once it settles: until then the index is restored from a snapshot. */
  readonly restoring?: Promise<unknown>
  /** Called when the store has lost changes that this index has applied, as a failover to a late replica does. */
  readonly onLost?: () => void
  /** Changes that are applied together; 50 when absent. */
  readonly page_size?: number
  /** Whether a fault ends the waiting for this index, since it may last: for an index that another server holds. */
  readonly waits?: 'always' | 'without fault'
}

/** Applying is synchronous: a page must not block the event loop for long. Other work runs between pages. */
const defaultPageSize = 50
const retries = { first_ms: 500, max_ms: 30_000 }
const defaultWriteWait = 2000
/** Changes that are remembered, to find those that a store has lost. */
const rememberedChanges = 1000

/**
 * Tails the store's change log into an index until disposed. After a fault, `onError` is called and the tailer
 * retries.
 */
export class IndexTailer implements AsyncDisposable {
  /** Resolves once the index holds all changes that were committed when the process started. */
  readonly filled: Promise<void>
  /** As `filled`, or with the first fault if callers do not wait for faults to end. */
  readonly ready: Promise<void>
  readonly #store: Store
  readonly #index: Derived
  readonly #onError: (fault: unknown) => void
  readonly #options: IndexTailerOptions
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  readonly #waiting = new Set<{ readonly revision: number; readonly resolve: () => void }>()
  /** One pass at a time. */
  readonly #turns = new SerialQueue()
  #queued: Promise<void> | undefined
  /** The last changes that were applied, oldest first. */
  #remembered: StoreChange[] = []
  #isFailing = false
  readonly #failed = Promise.withResolvers<void>()

  constructor(
    store: Store,
    index: Derived,
    onError: (fault: unknown) => void,
    options: IndexTailerOptions = {},
  ) {
    this.#store = store
    this.#index = index
    // Its own end is no fault.
    this.#onError = (fault) => {
      if (fault !== this.#stop.signal.reason) onError(fault)
    }
    this.#options = options
    this.filled = this.#passUntilDone().then(() => this.#applyAnew().catch(this.#onError))
    this.ready =
      options.waits === 'without fault' ? Promise.race([this.filled, this.#failed.promise]) : this.filled
    this.#ended = this.filled.then(() => this.#tail()).catch(this.#onError)
  }

  /** True since a fault until the index holds all changes again. */
  get is_failing(): boolean {
    return this.#isFailing
  }

  get applied_revision(): number {
    return this.#index.applied_revision
  }

  /** Resolves once this revision is applied, or after `write_wait_ms`: the write itself is committed either way. */
  async caughtUp(revision: number): Promise<void> {
    if (this.#index.applied_revision >= revision) return
    const isPatient = this.#options.waits !== 'without fault'
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { revision, resolve }
    this.#waiting.add(waiter)
    const timer = setTimeout(resolve, this.#options.write_wait_ms ?? defaultWriteWait)
    // If this pass fails, the tail retries and resolves the waiter.
    this.#pass().catch((fault) => {
      this.#onError(fault)
      if (!isPatient) resolve()
    })
    if (!isPatient && this.#isFailing) resolve()
    await promise
    clearTimeout(timer)
    this.#waiting.delete(waiter)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#ended
    await this.#turns.take(async () => {})
  }

  async #tail(): Promise<void> {
    for await (const _ of this.#store.wake(this.#stop.signal)) await this.#passUntilDone()
  }

  async #passUntilDone(): Promise<void> {
    const { signal } = this.#stop
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        return await this.#pass()
      } catch (fault) {
        if (signal.aborted) return
        this.#onError(fault)
        await pause(backoff(attempt, retries), undefined, { signal }).catch(() => {})
      }
    }
  }

  /** Runs one pass at a time. Callers share the next pass, which starts after the current one has ended. */
  #pass(): Promise<void> {
    this.#queued ??= this.#turns.take(async () => {
      this.#queued = undefined
      try {
        await this.#applyAll()
        this.#isFailing = false
      } catch (fault) {
        this.#isFailing = true
        this.#failed.resolve()
        throw fault
      }
    })
    return this.#queued
  }

  #applyAnew(): Promise<void> {
    const { applied_anew = [] } = this.#options
    return this.#turns.take(async () => {
      const named = applied_anew.map((package_name) => this.#store.read.entry({ package_name }))
      const ids = (await Promise.all(named)).flatMap((entry) => entry?.id ?? [])
      if (ids.length > 0) await this.#apply(await this.#read(ids), this.#index.applied_revision)
    })
  }

  async #applyAll(): Promise<void> {
    const { livenessCache, page_size: pageSize = defaultPageSize } = this.#options
    await this.#restored()
    await this.#remember()
    const { signal } = this.#stop
    while (!signal.aborted) {
      const applied = this.#index.applied_revision
      const revision = await this.#revision(applied)
      if (revision === applied) return
      const last = this.#lastRemembered()
      const page =
        revision < applied ? [] : await this.#store.changes(last ? applied - 1 : applied, pageSize + 1)
      if (last && (revision < applied || differs(page[0], last))) {
        await this.#lose()
        continue
      }
      const changes = page.filter((change) => change.revision > applied).slice(0, pageSize)
      const newest = changes.at(-1)
      if (!newest) return
      const relevant = livenessCache ? changes : changes.filter(({ kind }) => kind !== 'liveness')
      const ids = [...new Set(relevant.map((change) => change.entry_id))]
      await this.#apply(await this.#read(ids), newest.revision)
      this.#remembered = [...this.#remembered, ...changes].slice(-rememberedChanges)
      await this.#remember()
      // An index that others bring up to date too may hold more than was applied here.
      const reached = this.#index.applied_revision
      for (const waiter of this.#waiting) if (waiter.revision <= reached) waiter.resolve()
      if (changes.length < pageSize) return
      await setImmediate()
    }
  }

  /** The last revision. An index that others bring up to date too may be ahead of a revision that is cached here. */
  async #revision(applied: number): Promise<number> {
    const revision = await this.#store.read.revision()
    return revision < applied ? await this.#store.read.latest() : revision
  }

  /** The change to which the index was brought; undefined if it is not known. */
  #lastRemembered(): StoreChange | undefined {
    const last = this.#remembered.at(-1)
    return last?.revision === this.#index.applied_revision ? last : undefined
  }

  /** Reads the last changes of an index that was restored from a snapshot of this store, or that others brought further. */
  async #remember(): Promise<void> {
    const applied = this.#index.applied_revision
    if (applied === 0 || (this.#remembered.at(-1)?.revision ?? 0) >= applied) return
    const rows = await this.#store.changes(Math.max(0, applied - rememberedChanges), rememberedChanges)
    this.#remembered = rows.filter(({ revision }) => revision <= applied)
  }

  /**
   * Goes back to the last change that the store still has, and applies the entries of those that it has lost as they are
   * now. If it has none of those that are remembered, every change is applied again, and so it is for an index that
   * cannot go back, which counts as failing until it is filled.
   */
  async #lose(): Promise<void> {
    const applied = this.#index.applied_revision
    const first = this.#remembered[0]?.revision ?? 1
    const rows = await this.#store.changes(first - 1, rememberedChanges)
    const stored = new Map(rows.map((row) => [row.revision, row]))
    const isStored = (change: StoreChange) => isDeepStrictEqual(stored.get(change.revision), change)
    const lost = this.#remembered.splice(this.#remembered.findLastIndex(isStored) + 1)
    const revision = this.#remembered.at(-1)?.revision ?? 0
    this.#onError(
      new Error(
        `The store has lost the changes from revision ${revision + 1} to ${applied}, which were acknowledged: a failover, or an older backup.`,
      ),
    )
    this.#options.onLost?.()
    if (this.#index.discard) {
      this.#isFailing = true
      await this.#index.discard()
      this.#remembered = []
      return
    }
    const ids = [...new Set(lost.map((change) => change.entry_id))]
    const found = await this.#read(ids)
    const existing = new Set(found.map(({ id }) => id))
    const gone = ids.filter((id) => !existing.has(id)).map((id) => ({ id, document: null }))
    await this.#apply([...found, ...gone], revision)
  }

  async #restored(): Promise<void> {
    const { restoring } = this.#options
    if (restoring !== undefined) await abortable(restoring, this.#stop.signal)
  }

  async #apply(changes: readonly EntryChange[], revision: number): Promise<void> {
    try {
      await this.#index.apply(changes, revision)
    } catch (fault) {
      if (this.#options.onEntryFault === 'wait') throw fault
      const before = this.#index.applied_revision
      for (const change of changes) {
        await this.#index.apply([change], before).catch(async (thrown) => {
          this.#onError(thrown)
          await this.#index.apply([{ id: change.id, document: null }], before)
        })
      }
      await this.#index.apply([], revision)
    }
  }

  async #read(ids: readonly string[]): Promise<EntryChange[]> {
    try {
      const { livenessCache } = this.#options
      const [entries] = await Promise.all([
        this.#store.read.entries(ids, 'pass'),
        livenessCache?.refresh(ids),
      ])
      return entries.map((entry) => toChange(entry, livenessCache?.of(entry)))
    } catch (fault) {
      if (!(fault instanceof UnreadableEntry)) throw fault
      if (ids.length > 1) return (await Promise.all(ids.map((id) => this.#read([id])))).flat()
      // An unreadable entry is left out, so that it does not hide the others.
      this.#onError(fault)
      return ids.map((id) => ({ id, document: null }))
    }
  }
}

/** A change that was superseded long ago may have been removed from the log: then nothing is known. */
function differs(stored: StoreChange | undefined, applied: StoreChange): boolean {
  return stored?.revision === applied.revision && !isDeepStrictEqual(stored, applied)
}

function toChange(entry: StoredEntry, liveness?: Liveness): EntryChange {
  return { id: entry.id, document: entry.deleted ? null : toDocument(entry, liveness) }
}
