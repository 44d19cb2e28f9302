import type { RegistryChange } from '../../../schemas/change.ts'
import type { Entry } from '../../../schemas/entry.ts'
import type { Store, StoreChange } from '../../store/store.ts'
import { type StoredEntry, UnreadableEntry } from '../../store/stored-entry.ts'
import type { Views } from '../entry/view.ts'
import type { LivenessCache } from '../liveness/liveness-cache.ts'

/** A change as the public sees it, the owner of the agent, and the owner from whom it was taken over. */
export interface FeedChange {
  readonly change: RegistryChange
  readonly owner: StoredEntry['owner']
  readonly taken_from: StoredEntry['taken_from']
}

/** The changes between two revisions. */
export interface Span {
  readonly updates: readonly FeedChange[]
  /** The last revision read: every public change up to it is included. */
  readonly up_to: number
  /** True if the log ends at `up_to`. */
  readonly complete: boolean
}

/**
 * Reads changes after revision `after`, of one entry if `entry_id` is given; undefined if the log is shorter than that.
 */
export type ReadChanges = (after: number, limit: number, entry_id?: string) => Promise<Span | undefined>

interface ReadChangesOptions {
  readonly store: Pick<Store, 'changes' | 'read'>
  readonly views: Pick<Views, 'entry'>
  readonly livenessCache: Pick<LivenessCache, 'refresh'>
  /** Called for entries that cannot be read; they are left out. */
  readonly onError: (fault: unknown) => void
}

/**
 * Maximum characters of changes in one span, not counting the first change; every transport answers with at most 1
 * MiB.
 */
const maxSpanCharacters = 512 * 1024

/**
 * An entry is reported at its newest revision only: if it has changed again, a later row reports it. A removal is
 * reported at once, since later revisions may be hidden.
 */
export function createReadChanges({ store, views, livenessCache, onError }: ReadChangesOptions): ReadChanges {
  async function read(ids: readonly string[]): Promise<StoredEntry[]> {
    try {
      return [...(await store.read.entries(ids))]
    } catch (fault) {
      if (!(fault instanceof UnreadableEntry)) throw fault
      if (ids.length > 1) return (await Promise.all(ids.map((id) => read([id])))).flat()
      onError(fault)
      return []
    }
  }

  function toChange(row: StoreChange, entry: StoredEntry): RegistryChange | undefined {
    const { revision, at } = row
    const facts = { revision, at, id: entry.id, package_name: entry.package_name }
    if (row.seen === 'gone')
      return Object.freeze({ ...facts, kind: row.kind === 'delete' ? 'deleted' : 'unlisted' })
    const isListed = entry.state === 'ACTIVE' && !entry.suspended && !entry.deleted
    if (!isListed || entry.revision > revision) return undefined
    if (row.kind === 'liveness') {
      const { liveness, callable, callable_reason } = views.entry(entry, null)
      return Object.freeze({ ...facts, kind: 'liveness', liveness, callable, callable_reason })
    }
    return Object.freeze({ ...facts, kind: 'listed', agent: views.entry(entry, null) satisfies Entry })
  }

  return async (after, limit, entry_id) => {
    // Read first: every change of the entry up to it is then among the rows.
    const latest = entry_id === undefined ? undefined : await store.read.latest()
    const rows = await store.changes(after, limit, entry_id)
    if (rows.length === 0 && after > (latest ?? (await store.read.latest()))) return undefined
    const newestRows = newest(rows)
    const ids = [
      ...new Set(newestRows.filter(({ seen }) => seen !== 'unseen').map(({ entry_id }) => entry_id)),
    ]
    await livenessCache.refresh(ids)
    const entries = new Map((await read(ids)).map((entry) => [entry.id, entry]))
    const updates: FeedChange[] = []
    let length = 0
    let up_to = after
    for (const row of newestRows) {
      const entry = entries.get(row.entry_id)
      const change = row.seen === 'unseen' || !entry ? undefined : toChange(row, entry)
      if (change && entry) {
        length += JSON.stringify(change).length
        if (updates.length > 0 && length > maxSpanCharacters) return { updates, up_to, complete: false }
        updates.push({ change, owner: entry.owner, taken_from: entry.taken_from })
      }
      up_to = row.revision
    }
    const last = rows.at(-1)?.revision ?? after
    const isComplete = rows.length < limit
    return { updates, up_to: isComplete ? Math.max(last, latest ?? 0) : last, complete: isComplete }
  }
}

/** Drops liveness changes that another change of the same agent follows. */
function newest(rows: readonly StoreChange[]): StoreChange[] {
  const last = new Map(rows.map((row) => [row.entry_id, row.revision]))
  return rows.filter((row) => row.kind !== 'liveness' || last.get(row.entry_id) === row.revision)
}
