import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { FeedChange, ReadChanges, Span } from './read-changes.ts'

/** The newest changes, read once for all followers. */
export interface Tail extends AsyncDisposable {
  /**
   * Changes after that revision; undefined if the buffer does not reach back that far, or the tail has not started.
   */
  after(revision: number): Span | undefined
  /** Calls the listener for new changes until the returned function is called. */
  onMove(listener: () => void): () => void
}

interface TailOptions {
  readonly store: Pick<Store, 'wake' | 'read'>
  readonly read: ReadChanges
  /** Called for faults; the tail retries. */
  readonly onError: (fault: unknown) => void
  /** Called if the log is shorter than before: the database was restored. */
  readonly restarted: () => void
}

/** Changes buffered for followers that are up to date; others read the log themselves. */
const maxBuffered = 1000
const pageSize = 100
const retryMilliseconds = 500

/** Tails the log from its current end until disposed. */
export function startTail({ store, read, onError, restarted }: TailOptions): Tail {
  const stop = new AbortController()
  const { signal } = stop
  const listeners = new Set<() => void>()
  const buffered: FeedChange[] = []
  /** All changes after this revision are buffered. */
  let floor = 0
  let revision: number | undefined

  async function advance(): Promise<void> {
    if (revision === undefined) {
      revision = floor = await store.read.revision()
      notify()
    }
    for (;;) {
      const span = await read(revision, pageSize)
      if (!span) return restart()
      if (span.up_to === revision) return
      buffered.push(...span.updates)
      const over = buffered.splice(0, Math.max(0, buffered.length - maxBuffered)).at(-1)
      if (over) floor = over.change.revision
      revision = span.up_to
      notify()
      if (span.complete) return
    }
  }

  function restart(): void {
    buffered.length = 0
    revision = undefined
    restarted()
    notify()
  }

  function notify(): void {
    for (const listener of listeners) listener()
  }

  async function run(): Promise<void> {
    for await (const _ of store.wake(signal)) {
      while (!signal.aborted && !(await advanced())) {
        await pause(retryMilliseconds, undefined, { signal }).catch(() => {})
      }
    }
  }

  async function advanced(): Promise<boolean> {
    try {
      await advance()
      return true
    } catch (fault) {
      if (!signal.aborted) onError(fault)
      return false
    }
  }

  const ended = run().catch(onError)
  return {
    after(since) {
      if (revision === undefined || since < floor || since > revision) return undefined
      // Followers usually lack only the last few changes.
      const first = buffered.findLastIndex(({ change }) => change.revision <= since) + 1
      return { updates: buffered.slice(first), up_to: revision, complete: true }
    },
    onMove(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
    },
  }
}
