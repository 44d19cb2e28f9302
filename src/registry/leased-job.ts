import { setTimeout as pause } from 'node:timers/promises'
import type { Leases } from '../store/record-stores.ts'

/** Work that is done again and again, such as checks, probes or deliveries. */
interface Job {
  /** True if there is work to do. */
  isDue(): Promise<boolean>
  /** Works until nothing is left, or the signal aborts. */
  run(signal: AbortSignal): Promise<unknown>
}

export interface LeasedJobOptions {
  readonly job: Job
  readonly leases: Leases
  /** Name of the lease. */
  readonly lease: string
  /** Identifies this process among those that share the store. */
  readonly holder: string
  readonly clock: () => number
  readonly onError: (fault: unknown) => void
  /** Time between two runs, in milliseconds; 2,000 when absent. */
  readonly beat_ms?: number
  /** Maximum time of a run, in milliseconds; 10 minutes when absent. */
  readonly limit_ms?: number
  /** Length of the lease, which is renewed during a run, in milliseconds; half a minute when absent. */
  readonly lease_ms?: number
}

const limitMilliseconds = 10 * 60_000
/** A process that ended without a word, or is frozen, is replaced after this time. */
const leaseMilliseconds = 30_000

/**
 * Runs a job until disposed. Of all processes that share the store, one at a time runs it: a run ends when its lease is
 * lost.
 */
export function startLeasedJob(options: LeasedJobOptions): AsyncDisposable {
  const { job, leases, lease, holder, clock, onError } = options
  const { beat_ms = 2000, limit_ms = limitMilliseconds, lease_ms = leaseMilliseconds } = options
  const stop = new AbortController()
  const { signal } = stop

  const take = () => leases.take(lease, holder, clock(), clock() + lease_ms)

  async function turn(): Promise<void> {
    if (!(await job.isDue()) || !(await take())) return
    const lost = new AbortController()
    const renew = async () => {
      if (!(await take())) lost.abort()
    }
    let renewed: Promise<void> | undefined
    const renewal = setInterval(() => {
      renewed = renew().catch(onError)
    }, lease_ms / 3).unref()
    try {
      // The next holder does the work that is left.
      await job.run(AbortSignal.any([signal, lost.signal, AbortSignal.timeout(limit_ms)]))
    } finally {
      clearInterval(renewal)
      // A renewal after the release would keep the lease.
      await renewed
    }
  }

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      await turn().catch((fault) => signal.aborted || onError(fault))
      await pause(beat_ms, undefined, { signal, ref: false }).catch(() => {})
    }
    await leases.release(lease, holder).catch(onError)
  }

  const ended = loop()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
    },
  }
}
