import { type Clock, monotonic } from '../common/clock.ts'
import type { Logger } from '../telemetry/log.ts'

/** Milliseconds between two lines about one outage. */
const reminderMilliseconds = 60_000
/** Milliseconds without a fault after which an answer ends an outage: a store without free connections answers some. */
const quietMilliseconds = 3000

/**
 * Logs that a service does not answer: every part of a gateway finds that out, again and again. One line says when it
 * begins, one a minute that it lasts, and one that it has ended.
 */
export class Outage {
  readonly #service: string
  readonly #log: Logger
  readonly #clock: Clock
  #since: number | undefined
  #logged = 0
  #lastFault = 0

  constructor(service: string, log: Logger, clock: Clock) {
    this.#service = service
    this.#log = log
    this.#clock = monotonic(clock)
  }

  /** True from the first fault until the service answers without another one. */
  get lasts(): boolean {
    return this.#since !== undefined
  }

  /** To be called with each fault. */
  readonly note = ({ message, cause }: Error): void => {
    const now = this.#clock()
    this.#lastFault = now
    if (this.#since !== undefined && now - this.#logged < reminderMilliseconds) return
    this.#since ??= now
    this.#logged = now
    const reason = cause instanceof Error ? cause.message : message
    this.#log.error({ reason, seconds: this.#seconds() }, `${this.#service} cannot be reached`)
  }

  /** To be called with each answer. */
  readonly end = (): void => {
    if (this.#since === undefined || this.#clock() - this.#lastFault < quietMilliseconds) return
    this.#log.warn({ seconds: this.#seconds() }, `${this.#service} is back`)
    this.#since = undefined
  }

  #seconds(): number {
    return Math.round((this.#clock() - (this.#since ?? 0)) / 1000)
  }
}
