import type { Failure } from '../../schemas/failure.ts'
import type { Store } from '../store/store.ts'

/** A process that ended without a word is replaced after this time. */
const lease_ms = 10_000
const beat_ms = 3_000

interface LeaseOptions {
  readonly leases: Store['leases']
  readonly name: string
  /** This process. */
  readonly holder: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** What is thrown while another process holds the lease. */
  readonly busy: () => Failure
}

/** A lease of the store: one process at a time holds it, and does the work that it names. */
export class Lease {
  readonly #options: LeaseOptions

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** Takes the lease, or extends it; false while another process holds it. */
  async tryTake(): Promise<boolean> {
    const { leases, name, holder, clock } = this.#options
    return await leases.take(name, holder, clock(), clock() + lease_ms)
  }

  /** Takes the lease, or extends it. Throws the failure `busy` while another process holds it. */
  async take(): Promise<void> {
    if (!(await this.tryTake())) throw this.#options.busy()
  }

  async release(): Promise<void> {
    const { leases, name, holder } = this.#options
    await leases.release(name, holder)
  }

  /**
   * Holds the lease until disposed. Throws as `take` does; later faults of the store go to `onError`, and the lease then
   * expires by itself.
   */
  async hold(onError: (fault: unknown) => void): Promise<AsyncDisposable> {
    await this.take()
    const beat = setInterval(() => void this.tryTake().catch(onError), beat_ms).unref()
    return {
      [Symbol.asyncDispose]: async () => {
        clearInterval(beat)
        await this.release().catch(onError)
      },
    }
  }
}
