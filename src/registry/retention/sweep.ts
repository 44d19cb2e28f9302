import { dayMilliseconds, dayOf } from '../../common/days.ts'
import type { Pruned } from '../../store/record-stores.ts'
import type { Store } from '../../store/store.ts'
import { textHashes } from '../indexing/vector-feed.ts'

/** Days for which data is kept, and the numbers of versions without a version string and of audit events of an agent. */
interface Retention {
  readonly versions: number
  readonly max_versions: number
  readonly audit: number
  readonly max_audit: number
  readonly changes: number
  readonly deleted: number
  readonly liveness: number
}

interface SweepOptions {
  readonly store: Store
  readonly clock: () => number
  readonly retention: Retention
  /** True for a model that no version uses again. */
  readonly isReplaced: (model: string) => boolean
  /** Removes what nobody uses elsewhere than in the store. */
  readonly removeLeftovers?: (() => Promise<void>) | undefined
  readonly onPruned: (counts: Pruned & { readonly embeddings: number }) => void
}

const note = 'retention_swept_at'
/** Entries of a page: they are read, parsed and hashed without a pause, for some 5 ms. */
const pageSize = 50

/** Removes, once a day, what is older than the retention allows. */
export function createSweep({
  store,
  clock,
  retention,
  isReplaced,
  removeLeftovers,
  onPruned,
}: SweepOptions) {
  /** Hashes of the texts of all entries, shortened: the log names each entry at least once. */
  async function usedHashes(signal: AbortSignal | undefined): Promise<ReadonlySet<number>> {
    const hashes = new Set<number>()
    for (let after = 0; ; ) {
      signal?.throwIfAborted()
      const changes = await store.changes(after, pageSize)
      const last = changes.at(-1)
      if (!last) return hashes
      const entries = await store.read.entries([...new Set(changes.map(({ entry_id }) => entry_id))], 'pass')
      const living = entries.filter(({ deleted }) => !deleted)
      for (const hash of living.flatMap(textHashes)) hashes.add(shortened(hash))
      after = last.revision
    }
  }

  return {
    async isDue(): Promise<boolean> {
      const last = Number((await store.settings.get(note)) ?? 0)
      return Math.abs(clock() - last) >= dayMilliseconds
    },

    /** Returns the number of rows that were removed or emptied. A sweep that the signal ends is due again at once. */
    async run(signal?: AbortSignal): Promise<number> {
      const now = clock()
      const before = (days: number) => new Date(Math.max(0, now - days * dayMilliseconds)).toISOString()
      const bounds = {
        now,
        versions: before(retention.versions),
        max_versions: retention.max_versions,
        audit: before(retention.audit),
        max_audit: retention.max_audit,
        changes: before(retention.changes),
        deleted: before(retention.deleted),
        liveness: dayOf(now) - retention.liveness + 1,
      }
      const counts = await store.retention.prune(bounds, signal)
      const used = await usedHashes(signal)
      const embeddings = await store.retention.pruneEmbeddings(
        (hash, model) => !isReplaced(model) && used.has(shortened(hash)),
        signal,
      )
      await store.settings.set(note, String(now))
      const all = { ...counts, embeddings }
      onPruned(all)
      await removeLeftovers?.()
      return Object.values(all).reduce((sum, count) => sum + count, 0)
    },
  }
}

/** 32 bits of a hash, which take a tenth of its memory. Of two texts with the same bits, both vectors stay. */
function shortened(hash: string): number {
  return Buffer.from(hash.slice(0, 6), 'base64url').readInt32LE(0)
}
