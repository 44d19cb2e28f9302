import type { EntryChange, SearchDocument, SearchIndex } from '../search/search-index.ts'
import type { Store, StoredEntry } from '../store/store.ts'

/** Keeps the search index in step with the truth. */
export interface Follower extends AsyncDisposable {
  /** Resolves once the index holds everything that was committed when the process started. */
  readonly ready: Promise<void>
  readonly applied_revision: number
  /** Resolves once the index has applied this revision. */
  caughtUp(revision: number): Promise<void>
}

/** Applying is synchronous: a page must not hold the event loop for long. */
const pageSize = 200

/** Tails the store's changes into the index until disposed. `failed` hears of faults; the tail goes on. */
export function follow(store: Store, index: SearchIndex, failed: (fault: unknown) => void): Follower {
  const stop = new AbortController()
  const waiting: { revision: number; resolve: () => void }[] = []
  let turn: Promise<void> = Promise.resolve()

  async function applyAll(): Promise<void> {
    for (;;) {
      const changes = await store.changes(index.applied_revision, pageSize)
      const last = changes.at(-1)
      if (!last) return
      const entries = await store.read.entries([...new Set(changes.map((change) => change.entry_id))])
      await index.apply(entries.map(toChange), last.revision)
      release(last.revision)
    }
  }

  /** One pass at a time; each asked-for pass starts after the one before it has ended. */
  function pass(): Promise<void> {
    turn = turn.then(applyAll)
    return turn
  }

  function release(revision: number): void {
    for (let at = waiting.length - 1; at >= 0; at--) {
      if ((waiting[at]?.revision ?? 0) <= revision) waiting.splice(at, 1)[0]?.resolve()
    }
  }

  async function tail(): Promise<void> {
    for await (const _ of store.wake(stop.signal)) {
      await pass().catch((fault) => {
        turn = Promise.resolve()
        failed(fault)
      })
    }
  }

  const ready = pass()
  ready.catch(failed)
  const ended = ready.then(tail, () => {})
  return {
    ready,
    get applied_revision() {
      return index.applied_revision
    },
    async caughtUp(revision) {
      if (index.applied_revision >= revision) return
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ revision, resolve })
      await pass()
      await promise
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
      await turn.catch(() => {})
    },
  }
}

export function toChange(entry: StoredEntry): EntryChange {
  return { id: entry.id, document: entry.deleted ? null : toDocument(entry) }
}

function toDocument(entry: StoredEntry): SearchDocument {
  const { id, package_name, name, description, tags, category, target, state, created_at, capabilities } =
    entry
  const owner = entry.owner && ownerKey(entry.owner)
  return {
    id,
    package_name,
    name,
    description,
    tags,
    category,
    target,
    state,
    owner,
    created_at,
    capabilities,
  }
}

export function ownerKey({ issuer, subject }: { issuer: string; subject: string }): string {
  return JSON.stringify([issuer, subject])
}
