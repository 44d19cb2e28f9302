import { setImmediate as turnOfOthers } from 'node:timers/promises'
import { type Liveness, type LivenessStore, unseen } from '../../../schemas/liveness.ts'
import type { StoredEntry } from '../../store/store.ts'

/** How agents fare, in the memory of this process: what lists show costs no SQL. */
export interface LivenessCache {
  /** The same frozen object until another look is heard of. */
  of(entry: Pick<StoredEntry, 'id' | 'hosted'>): Liveness
  /** Hears of these agents at once. */
  refresh(entryIds: readonly string[]): Promise<void>
  /** Hears of every look there has been. */
  sweep(): Promise<void>
  /** Up to which look everything shown here is heard of: lists differ by it. */
  readonly swept: number
}

const pageSize = 1000

/** The gateway that answers is alive. */
const hosted: Liveness = Object.freeze({ ...unseen, status: 'alive' })

export function createLivenessCache(store: Pick<LivenessStore, 'shown' | 'since'>): LivenessCache {
  const byId = new Map<string, Liveness>()
  let swept = 0

  return {
    of: (entry) => (entry.hosted ? hosted : (byId.get(entry.id) ?? unseen)),
    async refresh(entryIds) {
      const shown = await store.shown(entryIds)
      for (const id of entryIds) {
        const liveness = shown.get(id)
        if (liveness) byId.set(id, liveness)
        else byId.delete(id)
      }
    },
    async sweep() {
      for (;;) {
        const { shown, sequence } = await store.since(swept, pageSize)
        for (const [id, liveness] of shown) byId.set(id, liveness)
        swept = Math.max(swept, sequence)
        if (shown.size < pageSize) return
        await turnOfOthers()
      }
    },
    get swept() {
      return swept
    },
  }
}

/** Nobody looks. */
export const emptyLivenessCache: LivenessCache = {
  of: (entry) => (entry.hosted ? hosted : unseen),
  refresh: async () => {},
  sweep: async () => {},
  swept: 0,
}
