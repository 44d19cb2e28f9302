import type { Leases } from '../store/record-stores.ts'

/** A process that ended without a word is replaced after this time. */
const lease_ms = 10_000
const beat_ms = 3_000

interface LeaseOptions {
  readonly leases: Leases
  readonly name: string
  /** This process. */
  readonly holder: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** A lease of the store: one process at a time holds it, and does the work that it names. */
export class Lease {
  readonly #options: LeaseOptions

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** Takes the lease, or extends it; false while another process holds it. */
  async take(): Promise<boolean> {
    const { leases, name, holder, clock } = this.#options
    return await leases.take(name, holder, clock(), clock() + lease_ms)
  }

  /**
   * Holds the lease until disposed; undefined while another process holds it. Later faults of the store go to
   * `onError`, and the lease then expires by itself.
   */
  async hold(onError: (fault: unknown) => void): Promise<AsyncDisposable | undefined> {
    if (!(await this.take())) return undefined
    const { leases, name, holder } = this.#options
    const beat = setInterval(() => void this.take().catch(onError), beat_ms).unref()
    return {
      [Symbol.asyncDispose]: async () => {
        clearInterval(beat)
        await leases.release(name, holder).catch(onError)
      },
    }
  }
}
