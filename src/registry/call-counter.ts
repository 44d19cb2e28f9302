import type { CallCounts, CallStore } from '../../schemas/calls.ts'
import { type Code, codes } from '../../schemas/failure.ts'
import type { Clock } from '../common/clock.ts'
import { dayOf } from '../common/days.ts'

interface CallCounterOptions {
  readonly store: CallStore
  /** Milliseconds since the epoch. */
  readonly clock: Clock
  readonly onError: (fault: unknown) => void
}

const flushMilliseconds = 60_000

/** Counts the calls of listed agents, and adds the counts to the store once a minute, when they are read, and at the end. */
export class CallCounter implements AsyncDisposable {
  readonly #options: CallCounterOptions
  /** What the store does not have yet, by days and entries. */
  readonly #counts = new Map<number, Map<string, CallCounts>>()
  readonly #timer: NodeJS.Timeout
  #flushing: Promise<void> = Promise.resolve()

  constructor(options: CallCounterOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.flush().catch(options.onError), flushMilliseconds).unref()
  }

  /** Counts a call of an entry; `code` is `ok` or the code of a failure. */
  count(entryId: string, code: string): void {
    const status = code === 'ok' ? 200 : (codes[code as Code]?.http ?? 500)
    const isRefused = status >= 400 && status < 500
    this.#add(dayOf(this.#options.clock()), entryId, {
      calls: 1,
      refused: Number(isRefused),
      failed: Number(status >= 500),
    })
  }

  /** Adds what was counted to the store, or keeps it for the next time and throws the fault. */
  async flush(): Promise<void> {
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#write())
    await this.#flushing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch(this.#options.onError)
  }

  async #write(): Promise<void> {
    for (const [day, counts] of [...this.#counts]) {
      this.#counts.delete(day)
      try {
        await this.#options.store.add(day, counts)
      } catch (fault) {
        for (const [entryId, counted] of counts) this.#add(day, entryId, counted)
        throw fault
      }
    }
  }

  #add(day: number, entryId: string, counted: CallCounts): void {
    const counts = this.#counts.get(day) ?? new Map<string, CallCounts>()
    this.#counts.set(day, counts)
    const before = counts.get(entryId)
    counts.set(entryId, before ? sumOf([before, counted]) : counted)
  }
}

/** The sum of the counts of some days. */
export function sumOf(days: readonly CallCounts[]): CallCounts {
  const sum = { calls: 0, refused: 0, failed: 0 }
  for (const { calls, refused, failed } of days) {
    sum.calls += calls
    sum.refused += refused
    sum.failed += failed
  }
  return sum
}
