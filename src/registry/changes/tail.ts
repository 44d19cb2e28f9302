import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { ReadChanges, Span, TaskUpdate } from './read-changes.ts'

/** The newest changes, read once for everybody who follows. */
export interface Tail extends AsyncDisposable {
  /** What came after that revision; undefined where more has come than is kept, or the tail has not begun. */
  after(revision: number): Span | undefined
  /** Hears of each move, until what it gives back is called. */
  onMove(listener: () => void): () => void
}

interface TailOptions {
  readonly store: Pick<Store, 'wake' | 'read'>
  readonly read: ReadChanges
  /** Hears of faults; the tail tries again. */
  readonly onError: (fault: unknown) => void
  /** Hears that the log is shorter than it was: the database is that of an earlier day. */
  readonly restarted: () => void
}

/** Changes that are kept for those who follow closely; who has fallen behind reads for itself. */
const maxBuffered = 1000
const pageSize = 100
const retryMilliseconds = 500

/** Tails the log from where it ends now, until disposed. */
export function startTail({ store, read, onError, restarted }: TailOptions): Tail {
  const stop = new AbortController()
  const { signal } = stop
  const listeners = new Set<() => void>()
  const buffered: TaskUpdate[] = []
  /** Of the revisions after this one, everything is kept. */
  let floor = 0
  let revision: number | undefined

  async function advance(): Promise<void> {
    if (revision === undefined) {
      revision = floor = await store.read.revision()
      tell()
    }
    for (;;) {
      const span = await read(revision, pageSize)
      if (!span) return restart()
      if (span.up_to === revision) return
      buffered.push(...span.updates)
      const over = buffered.splice(0, Math.max(0, buffered.length - maxBuffered)).at(-1)
      if (over) floor = over.change.revision
      revision = span.up_to
      tell()
      if (span.complete) return
    }
  }

  function restart(): void {
    buffered.length = 0
    revision = undefined
    restarted()
    tell()
  }

  function tell(): void {
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
      // Those who follow lack the last few, seldom more.
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
