import type { Store } from '../store/store.ts'
import type { StoreObserver, WriteRefusal } from '../store/store-health.ts'
import { integrityWorker } from './assets.ts'
import { type Config, storeLocation } from './config.ts'
import type { Runtime } from './runtime.ts'

/** Milliseconds between two attempts to write to a store that refuses writes. */
const probeMilliseconds = 10_000
/** A smaller difference, in milliseconds, may be the way of the answer. */
const leastCorrection = 2000
const maxClockDifference = 15_000
const probeSetting = 'write_probe'

/** Logs what the store finds out about its database, and keeps it for `/readyz`. */
export class HealthObserver implements StoreObserver {
  readonly #runtime: Runtime
  readonly #config: Config
  readonly #closing = new AbortController()
  #refusal: WriteRefusal | undefined
  #store: Pick<Store, 'settings'> | undefined
  #isProbing = false

  constructor(runtime: Runtime, config: Config) {
    this.#runtime = runtime
    this.#config = config
    runtime.stack.defer(() => this.#closing.abort())
  }

  /** Sets the store to probe while it refuses writes. */
  watch(store: Pick<Store, 'settings'>): void {
    this.#store = store
  }

  readonly check_worker = integrityWorker

  readonly onCheck = (damage: readonly string[]): void => {
    const { log, health } = this.#runtime
    const { path } = storeLocation(this.#config)
    if (damage.length > 0) {
      health.add('store_damaged')
      log.error({ damage }, `${path} is damaged: restore it from a backup`)
    } else log.info(`${path} was not closed cleanly; its check found no damage`)
  }

  readonly onAnswer = (): void => this.#runtime.outage.end()

  readonly onClock = (ahead: number): void => {
    if (Math.abs(ahead) < leastCorrection) return
    const { log, health, shiftClock } = this.#runtime
    const correction = shiftClock(ahead)
    const differs = Math.abs(correction) > maxClockDifference
    if (differs === health.has('clock_differs')) return
    if (differs) {
      health.add('clock_differs')
      const seconds = Math.round(correction / 1000)
      log.error(
        { seconds },
        'the clock differs from that of the store, which is ahead by these seconds and which the gateway goes by',
      )
    } else {
      health.delete('clock_differs')
      log.warn('the clock agrees with that of the store again')
    }
  }

  readonly onMigrate = (migrations: readonly string[]): void => {
    this.#runtime.log.info({ migrations }, 'the store was upgraded: earlier versions no longer start on it')
  }

  readonly onWrite = (refusal: WriteRefusal | undefined): void => {
    if (refusal === this.#refusal) return
    const { log, health } = this.#runtime
    if (this.#refusal) health.delete(this.#refusal)
    this.#refusal = refusal
    if (refusal) {
      health.add(refusal)
      log.error({ reason: refusal }, 'the store refuses writes')
      void this.#probe()
    } else log.warn('the store accepts writes again')
  }

  /** Writes a setting now and then until a write succeeds, since callers may not write meanwhile. */
  async #probe(): Promise<void> {
    if (this.#isProbing) return
    this.#isProbing = true
    const { wait, clock } = this.#runtime
    const { signal } = this.#closing
    try {
      // Files that were replaced take writes, which are lost.
      while (this.#refusal && this.#refusal !== 'store_replaced') {
        await wait(probeMilliseconds, signal)
        await this.#store?.settings.set(probeSetting, new Date(clock()).toISOString()).then(
          () => this.onWrite(undefined),
          () => {},
        )
      }
    } catch {
      // The gateway closes.
    } finally {
      this.#isProbing = false
    }
  }
}
