import { setTimeout as pause, setImmediate as turnOfOthers } from 'node:timers/promises'
import { listedValues } from '../../../schemas/entry-fields.ts'
import type { LivenessStatus } from '../../../schemas/liveness.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { EntryChange, SearchDocument, SearchIndex } from '../../search/search-index.ts'
import { type Store, type StoredEntry, UnreadableEntry } from '../../store/store.ts'
import type { LivenessCache } from '../liveness/liveness-cache.ts'

/** What is derived from the truth, entry by entry. */
export type Derived = Pick<SearchIndex, 'applied_revision' | 'apply'>

export interface FollowOptions {
  /**
   * What to do with an entry that cannot be applied: `omit` it, lest it hold up everything after it, or `wait`, where
   * the fault is no fault of the entry. `omit` when left out.
   */
  readonly trouble?: 'omit' | 'wait'
  /** How agents fare: told of every change before it is applied. Without it, what agents do changes nothing. */
  readonly livenessCache?: Pick<LivenessCache, 'of' | 'refresh'>
  /** How long a write waits to be applied here, in milliseconds; 2000 when left out. */
  readonly write_wait_ms?: number
}

/** Keeps something derived in step with the truth. */
export interface Follower extends AsyncDisposable {
  /** Resolves once it holds everything that was committed when the process started. */
  readonly ready: Promise<void>
  readonly applied_revision: number
  /** Resolves once this revision is applied, or after a while of trouble: what is written is written. */
  caughtUp(revision: number): Promise<void>
}

/** Applying is synchronous: a page must not hold the event loop for long, and others have their turn after it. */
const pageSize = 50
const firstRetryMilliseconds = 500
const lastRetryMilliseconds = 30_000
const defaultWriteWait = 2000

/** Tails the store's changes into what is derived until disposed. `failed` hears of faults; the tail tries again. */
export function follow(
  store: Store,
  index: Derived,
  onError: (fault: unknown) => void,
  { trouble = 'omit', write_wait_ms = defaultWriteWait, livenessCache }: FollowOptions = {},
): Follower {
  const stop = new AbortController()
  const waiting: { revision: number; resolve: () => void }[] = []
  let turn: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  async function applyAll(): Promise<void> {
    while (index.applied_revision < (await store.read.revision())) {
      const changes = await store.changes(index.applied_revision, pageSize)
      const last = changes.at(-1)
      if (!last) return
      const relevant = livenessCache ? changes : changes.filter(({ kind }) => kind !== 'liveness')
      const ids = [...new Set(relevant.map((change) => change.entry_id))]
      await livenessCache?.refresh(ids)
      await apply(await read(ids), last.revision)
      release(last.revision)
      if (changes.length < pageSize) return
      await turnOfOthers()
    }
  }

  async function apply(changes: readonly EntryChange[], revision: number): Promise<void> {
    try {
      await index.apply(changes, revision)
    } catch (fault) {
      if (trouble === 'wait') throw fault
      const before = index.applied_revision
      for (const change of changes) {
        await index.apply([change], before).catch(async (thrown) => {
          onError(thrown)
          await index.apply([{ id: change.id, document: null }], before)
        })
      }
      await index.apply([], revision)
    }
  }

  async function read(ids: readonly string[]): Promise<EntryChange[]> {
    try {
      return (await store.read.entries(ids)).map((entry) => toChange(entry, livenessCache?.of(entry).status))
    } catch (fault) {
      if (!(fault instanceof UnreadableEntry)) throw fault
      if (ids.length > 1) return (await Promise.all(ids.map((id) => read([id])))).flat()
      // One that cannot be read is left out, lest it hide all the others.
      onError(fault)
      return ids.map((id) => ({ id, document: null }))
    }
  }

  /** One pass at a time; whoever asks shares the next one, which starts after the one before it has ended. */
  function pass(): Promise<void> {
    next ??= turn
      .catch(() => {})
      .then(() => {
        next = undefined
        return applyAll()
      })
    turn = next
    return next
  }

  function release(revision: number): void {
    for (let at = waiting.length - 1; at >= 0; at--) {
      if ((waiting[at]?.revision ?? 0) <= revision) waiting.splice(at, 1)[0]?.resolve()
    }
  }

  /** A pass, made again until it succeeds. */
  async function step(): Promise<void> {
    for (
      let wait = firstRetryMilliseconds;
      !stop.signal.aborted;
      wait = Math.min(wait * 2, lastRetryMilliseconds)
    ) {
      try {
        return await pass()
      } catch (fault) {
        if (stop.signal.aborted) return
        onError(fault)
        await pause(wait, undefined, { signal: stop.signal }).catch(() => {})
      }
    }
  }

  async function tail(): Promise<void> {
    for await (const _ of store.wake(stop.signal)) await step()
  }

  const ready = step()
  const ended = ready.then(tail).catch(onError)
  return {
    ready,
    get applied_revision() {
      return index.applied_revision
    },
    async caughtUp(revision) {
      if (index.applied_revision >= revision) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter = { revision, resolve }
      waiting.push(waiter)
      const timer = setTimeout(resolve, write_wait_ms)
      // Where this fails, the tail tries again and lets go of us.
      pass().catch(onError)
      await promise
      clearTimeout(timer)
      if (waiting.includes(waiter)) waiting.splice(waiting.indexOf(waiter), 1)
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
      await turn.catch(() => {})
    },
  }
}

export function toChange(entry: StoredEntry, liveness?: LivenessStatus): EntryChange {
  return { id: entry.id, document: entry.deleted ? null : toDocument(entry, liveness) }
}

function toDocument(entry: StoredEntry, liveness: LivenessStatus = 'unknown'): SearchDocument {
  const { id, package_name, name, description, created_at, capabilities } = entry
  return {
    id,
    package_name,
    name,
    description,
    ...listedValues(entry),
    state: entry.suspended ? 'SUSPENDED' : entry.state,
    owner: entry.owner && principalKey(entry.owner),
    created_at,
    capabilities,
    liveness,
    deprecated: entry.deprecated !== null,
  }
}
