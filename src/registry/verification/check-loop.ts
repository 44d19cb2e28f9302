import { setTimeout as pause } from 'node:timers/promises'
import type { Leases } from '../../store/store.ts'
import type { Checker } from './checker.ts'

export interface CheckLoopOptions {
  readonly checker: Pick<Checker, 'run' | 'isDue'>
  readonly leases: Leases
  /** What is done under it; `checks` when left out. */
  readonly lease?: string
  /** Names this process among those that share the store. */
  readonly holder: string
  readonly clock: () => number
  readonly onError: (fault: unknown) => void
  /** Between two looks at what is due, in milliseconds; 2,000 when left out. */
  readonly beat_ms?: number
  /** How long one process checks before another may; 10 minutes when left out. */
  readonly lease_ms?: number
}

const leaseMilliseconds = 10 * 60_000

/** Checks what is due, in one process at a time of all that share the store, until disposed. */
export function startChecks(options: CheckLoopOptions): AsyncDisposable {
  const { checker, leases, lease = 'checks', holder, clock, onError } = options
  const { beat_ms = 2000, lease_ms = leaseMilliseconds } = options
  const stop = new AbortController()
  const { signal } = stop

  async function turn(): Promise<void> {
    if (!(await checker.isDue())) return
    if (!(await leases.take(lease, holder, clock(), clock() + lease_ms))) return
    // What is left when the lease lapses is for whoever takes it next.
    await checker.run(AbortSignal.any([signal, AbortSignal.timeout(lease_ms)]))
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
