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
  /** Length of the lease, in milliseconds; 10 minutes when absent. */
  readonly lease_ms?: number
}

const leaseMilliseconds = 10 * 60_000

/** Runs a job until disposed. Of all processes that share the store, one at a time runs it. */
export function startLeasedJob(options: LeasedJobOptions): AsyncDisposable {
  const { job, leases, lease, holder, clock, onError } = options
  const { beat_ms = 2000, lease_ms = leaseMilliseconds } = options
  const stop = new AbortController()
  const { signal } = stop

  async function turn(): Promise<void> {
    if (!(await job.isDue())) return
    if (!(await leases.take(lease, holder, clock(), clock() + lease_ms))) return
    // The next holder does the work that is left when the lease expires.
    await job.run(AbortSignal.any([signal, AbortSignal.timeout(lease_ms)]))
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
