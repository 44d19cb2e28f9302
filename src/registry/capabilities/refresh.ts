import { LRUCache } from 'lru-cache'
import type { Wait } from '../../common/clock.ts'
import { createSemaphore } from '../../common/semaphore.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import type { CapabilityReader } from './reader.ts'
import { maxChanges, readEndpoint } from './reading.ts'

/** Reads the tools of servers out of schedule, in the background. */
export interface CapabilityRefresh extends AsyncDisposable {
  /** Reads the server of an entry if it was not read for an hour; a list that changes often, for a day. */
  used(packageName: string): void
  /** The same, for an entry with an owner only: nobody else agreed that its server is asked. */
  shown(packageName: string): void
  /** Reads the server at once, or a minute after its last reading. */
  toolsChanged(packageName: string): void
}

interface RefreshOptions {
  readonly read: (packageName: string) => Promise<StoredEntry | undefined>
  readonly reader: Pick<CapabilityReader, 'read'>
  readonly clock: () => number
  readonly wait: Wait
  readonly onError: (fault: unknown) => void
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const maxConcurrent = 8
const maxUnderway = 1_000
const maxRemembered = 10_000
const maxWaiting = 100

export function createCapabilityRefresh({
  read,
  reader,
  clock,
  wait,
  onError,
}: RefreshOptions): CapabilityRefresh {
  const stop = new AbortController()
  /** Times of the last readings by package name. */
  const lastReadings = new LRUCache<string, number>({ max: maxRemembered })
  const acquire = createSemaphore(maxConcurrent)
  const underway = new Set<Promise<void>>()
  /** Servers that told of a change shortly after their last reading. */
  const waiting = new Set<string>()

  function isDue(entry: StoredEntry, gap_ms: number): boolean {
    const { changes = 0, checked_at } = entry.reading ?? {}
    const since = clock() - (checked_at === undefined ? Number.NEGATIVE_INFINITY : Date.parse(checked_at))
    return since < 0 || since >= (changes >= maxChanges ? day : gap_ms)
  }

  async function refresh(packageName: string, gap_ms: number, ownedOnly: boolean): Promise<void> {
    try {
      using _slot = await acquire(stop.signal)
      const entry = await read(packageName)
      if (!entry || readEndpoint(entry) === undefined || !isDue(entry, gap_ms)) return
      if (ownedOnly && !entry.owner) return
      await reader.read(entry.id, stop.signal)
    } catch (fault) {
      if (!stop.signal.aborted) onError(fault)
    }
  }

  function run(work: () => Promise<void>): void {
    if (underway.size >= maxUnderway || stop.signal.aborted) return
    const ended = work().finally(() => underway.delete(ended))
    underway.add(ended)
  }

  /** Milliseconds until the server may be read again. */
  function remaining(packageName: string, gap_ms: number): number {
    const since = clock() - (lastReadings.get(packageName) ?? Number.NEGATIVE_INFINITY)
    return since < 0 ? 0 : Math.max(0, gap_ms - since)
  }

  function request(packageName: string, ownedOnly: boolean): void {
    if (remaining(packageName, hour) > 0 || underway.size >= maxUnderway) return
    lastReadings.set(packageName, clock())
    run(() => refresh(packageName, hour, ownedOnly))
  }

  async function afterChange(packageName: string): Promise<void> {
    await wait(remaining(packageName, minute), stop.signal).catch(() => {})
    waiting.delete(packageName)
    if (stop.signal.aborted) return
    lastReadings.set(packageName, clock())
    await refresh(packageName, 0, false)
  }

  return {
    used: (packageName) => request(packageName, false),
    shown: (packageName) => request(packageName, true),
    toolsChanged(packageName) {
      if (waiting.has(packageName) || waiting.size >= maxWaiting || underway.size >= maxUnderway) return
      waiting.add(packageName)
      run(() => afterChange(packageName))
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await Promise.all(underway)
    },
  }
}
