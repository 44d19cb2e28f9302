import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../schemas/failure.ts'
import type { IndexTailer } from '../registry/indexing/index-tailer.ts'
import type { Store } from '../store/store.ts'
import type { Search } from './search.ts'

/** How far searches are behind what is committed. */
export interface Settling {
  /**
   * At a start: resolves once searches find the agents that are hosted here, listed at this revision, unless they are in
   * a large index that is still read.
   */
  listed(revision: number, isFirstStart: boolean): Promise<void>
  /** Resolves once searches see everything that is committed, or cannot because a part of the search fails. */
  settled(): Promise<void>
  /**
   * Makes the index serve that was filled beside the one that serves (`rebuild_index`). Returns the revision up to which
   * it was filled. Throws Failure `unavailable` if the engine takes no changes.
   */
  rebuilt(): Promise<number>
}

interface SettlingOptions {
  readonly store: Store
  readonly search: Search
  readonly tailer: IndexTailer
  readonly ready: Promise<void>
}

/** Milliseconds that a start waits for an index to be read. */
const reading_ms = 50

/** How often a rebuild goes on after a fault of the engine. */
const rebuildAttempts = 10
const rebuildPause_ms = 3000

export function createSettling({ store, search, tailer, ready }: SettlingOptions): Settling {
  const { vectors } = search

  async function settled(): Promise<void> {
    await ready
    const revision = await store.read.latest()
    const isBehind = () =>
      (tailer.applied_revision < revision && !tailer.is_failing) ||
      (vectors.progress().applied_revision < revision && !vectors.is_failing)
    while (isBehind()) await Promise.all([tailer.caughtUp(revision), vectors.caughtUp(revision)])
  }

  return {
    settled,
    async listed(revision, isFirstStart) {
      const reading = search.tailing.restoring?.then(() => true) ?? true
      if (await Promise.race([reading, pause(reading_ms, false, { ref: false })]))
        await tailer.caughtUp(revision)
      // Whoever searches by intent in the first second finds the agents that are hosted here.
      if (isFirstStart) await vectors.caughtUp(revision)
    },
    async rebuilt() {
      await settled()
      for (let attempt = 1; tailer.is_failing || vectors.is_failing; attempt++) {
        if (attempt > rebuildAttempts)
          throw new Failure(
            'unavailable',
            'The search engine takes no changes; the index in use is as it was.',
          )
        await pause(rebuildPause_ms)
        await settled()
      }
      await search.engine?.takeOver()
      // What others wrote meanwhile to the index that served until now.
      await settled()
      return tailer.applied_revision
    },
  }
}
