import { type Signal, type StoredLiveness, unseen } from '../../../schemas/liveness.ts'
import { dayMilliseconds } from '../../common/days.ts'
import type { Store } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { type ProbeOptions, probeEntry } from './probe.ts'
import { nextAt } from './schedule.ts'
import { judge } from './status-rules.ts'
import { createWatcher, originOf, watchOf } from './watcher.ts'

/** Probes listed agents. */
export interface Prober {
  /** True if any agent is due. */
  isDue(): Promise<boolean>
  /** Probes the agents that are due, at most a few hundred. Returns their number. */
  run(signal: AbortSignal): Promise<number>
  /** Probes one agent by every signal, due or not. Returns the revision. Throws the signal's reason. */
  check(entry: StoredEntry, signal: AbortSignal): Promise<Checked>
}

interface Checked {
  readonly signals: readonly Signal[]
  readonly revision: number
}

interface ProberOptions extends ProbeOptions {
  readonly store: Store
  /** A random number from 0 to below 1. */
  readonly random: () => number
  /** Called for an entry whose card has changed. */
  readonly onCard: (id: string, signal: AbortSignal) => Promise<void>
  /** Called for faults that the agent does not cause. */
  readonly onError: (fault: unknown) => void
  /** Whether mirrored agents without an owner are probed unasked; false when absent. */
  readonly probes_mirrored?: boolean
  /** Milliseconds after which a run starts no more probes; 60,000 when absent. */
  readonly budget_ms?: number
}

/** Maximum due agents read in one run; agents probed in it; agents of one origin among them. */
const maxDue = 2000
const maxTaken = 500
const maxPerOrigin = 100
/** Origins probed concurrently. */
const atOnce = 32
/** Probe results written in one commit: every process reads each commit. */
const batch = 100

export function createProber(options: ProberOptions): Prober {
  const { store, clock, random, onCard, onError, budget_ms = 60_000, probes_mirrored = false } = options
  const watcher = createWatcher(store, probes_mirrored)
  const time = (later = 0) => new Date(clock() + later).toISOString()

  const due = (limit: number) => store.liveness.due(time(), time(2 * dayMilliseconds), limit)

  async function run(signal: AbortSignal): Promise<number> {
    await watcher.catchUp(signal)
    const queues = inQueues(await due(maxDue))
    const count = queues.reduce((sum, queue) => sum + queue.length, 0)
    const enough = AbortSignal.timeout(budget_ms)
    const results: StoredLiveness[] = []
    async function work(): Promise<void> {
      for (let queue = queues.shift(); queue && !enough.aborted; queue = queues.shift()) {
        for (const before of queue) {
          if (signal.aborted || enough.aborted) return
          const result = await attempt(before, signal)
          if (result) results.push(result)
          if (results.length >= batch) await store.liveness.save(results.splice(0))
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    if (results.length > 0) await store.liveness.save(results.splice(0))
    return count
  }

  async function attempt(before: StoredLiveness, signal: AbortSignal): Promise<StoredLiveness | undefined> {
    try {
      const entry = await store.read.entry({ id: before.entry_id })
      if (!entry || watchOf(entry, probes_mirrored).place !== before.place) return undefined
      return (await probeOne(entry, before, false, signal)).after
    } catch (fault) {
      if (signal.aborted) return undefined
      onError(fault)
      return { ...before, next_at: nextAt(clock(), 0, 0, random()) }
    }
  }

  async function probeOne(
    entry: StoredEntry,
    before: StoredLiveness,
    thorough: boolean,
    signal: AbortSignal,
  ) {
    const found = await probeEntry(entry, before, thorough, options, signal)
    if (!found) return { after: withoutEndpoint(before), signals: [] }
    const { card } = found
    const hasChanged =
      card !== null && entry.owner && entry.card_sha256 !== null && card.sha256 !== entry.card_sha256
    if (hasChanged) await onCard(entry.id, signal).catch((fault) => signal.aborted || onError(fault))
    return { after: judge(before, found, clock(), random()), signals: found.signals }
  }

  /** The entry has endpoints, but none in a supported protocol. */
  function withoutEndpoint(before: StoredLiveness): StoredLiveness {
    const shown = { ...unseen, checked_at: time(), failure: 'no_endpoint' as const }
    return { ...before, shown, next_at: time(dayMilliseconds) }
  }

  async function check(entry: StoredEntry, signal: AbortSignal): Promise<Checked> {
    await store.liveness.watch([watchOf(entry, probes_mirrored)])
    const before = await store.liveness.get(entry.id)
    if (!before) return { signals: [], revision: await store.read.revision() }
    const { after, signals } = await probeOne(entry, before, true, signal)
    signal.throwIfAborted()
    return { signals, revision: await store.liveness.save([after]) }
  }

  return {
    check,
    run,
    isDue: async () => (await watcher.isBehind()) || (await due(1)).length > 0,
  }
}

/**
 * Makes one queue for each origin, so that an origin gets one request at a time. The agents that are due longest come
 * first.
 */
function inQueues(due: readonly StoredLiveness[]): StoredLiveness[][] {
  const queues = new Map<string, StoredLiveness[]>()
  let taken = 0
  for (const candidate of due) {
    if (taken === maxTaken) break
    const origin = originOf(candidate.place)
    const queue = queues.get(origin) ?? []
    if (queue.length === maxPerOrigin) continue
    queue.push(candidate)
    queues.set(origin, queue)
    taken += 1
  }
  return [...queues.values()]
}
