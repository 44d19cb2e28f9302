import { setImmediate as turnOfOthers } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { type Liveness, type LivenessStore, unseen } from '../../../schemas/liveness.ts'
import { upTo } from '../../common/lru.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { PackedLiveness } from './packed-liveness.ts'

/** The liveness of agents in this process's memory, so that lists need no SQL. */
export interface LivenessCache {
  /** Of agents that are asked for often, returns the same frozen object until a newer probe is read. */
  of(entry: Pick<StoredEntry, 'id' | 'hosted' | 'package_name'>): Liveness
  /** Reads the liveness of these agents from the store now. */
  refresh(entryIds: readonly string[]): Promise<void>
  /** Reads all probes since the last sweep. */
  sweep(): Promise<void>
  /** Sequence of the last probe that was read: cached lists are keyed by it. */
  readonly swept: number
}

const pageSize = 1000
const maxObjects = 10_000

/** A hosted agent is alive while the gateway answers. */
const hosted: Liveness = Object.freeze({ ...unseen, status: 'alive' })

/** A hosted agent without a setting that every call to it needs. */
const notConfigured: Liveness = Object.freeze({ ...unseen, failure: 'not_configured' })

/** `unconfigured`: names of the hosted agents that lack a setting of this process. */
export function createLivenessCache(
  store: Pick<LivenessStore, 'shown' | 'since'>,
  unconfigured: readonly string[],
): LivenessCache {
  const all = new PackedLiveness()
  /** Views are made anew for another object. */
  const objects = new LRUCache<string, Liveness>(upTo(maxObjects))
  let swept = 0

  function objectOf(id: string): Liveness {
    const found = objects.get(id)
    if (found) return found
    const liveness = all.get(id)
    if (liveness) objects.set(id, liveness)
    return liveness ?? unseen
  }

  function set(id: string, liveness: Liveness | undefined): void {
    objects.delete(id)
    if (liveness) all.set(id, liveness)
    else all.delete(id)
  }

  return {
    of({ id, hosted: isHosted, package_name }) {
      if (!isHosted) return objectOf(id)
      return unconfigured.includes(package_name) ? notConfigured : hosted
    },
    async refresh(entryIds) {
      const shown = await store.shown(entryIds)
      for (const id of entryIds) set(id, shown.get(id))
    },
    async sweep() {
      for (;;) {
        const { shown, sequence } = await store.since(swept, pageSize)
        for (const [id, liveness] of shown) set(id, liveness)
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
