import { principalKey } from '../../common/principal-key.ts'
import type { LimitedCaller } from '../../router/limiter.ts'

export interface BacklogLimits {
  /** Maximum characters of the unanswered messages of one caller, on all its sockets. */
  readonly max_of_caller?: number
  /** Maximum characters of all unanswered messages; a caller with few of them is never refused for it. */
  readonly max_in_all?: number
  /** Characters that each caller may have unanswered in any case. */
  readonly few?: number
}

const megabyte = 1024 * 1024

/** Counts what sockets have sent and what is not answered yet: each has limits of its own, and there are many. */
export class Backlog {
  readonly #limits: Required<BacklogLimits>
  readonly #of = new Map<string, number>()
  #total = 0

  constructor({
    max_of_caller = 32 * megabyte,
    max_in_all = 256 * megabyte,
    few = megabyte,
  }: BacklogLimits = {}) {
    this.#limits = { max_of_caller, max_in_all, few }
  }

  /** Counts a message; the returned function is to be called once it is answered. Undefined: it is one too many. */
  add({ principal, client }: LimitedCaller, length: number): (() => void) | undefined {
    const { max_of_caller, max_in_all, few } = this.#limits
    const key = principal ? principalKey(principal) : client === 'local' ? client : client.address
    const own = (this.#of.get(key) ?? 0) + length
    const total = this.#total + length
    if (own > max_of_caller || (total > max_in_all && own > few)) return undefined
    this.#of.set(key, own)
    this.#total = total
    let isCounted = true
    return () => {
      if (!isCounted) return
      isCounted = false
      this.#total -= length
      const left = (this.#of.get(key) ?? 0) - length
      if (left > 0) this.#of.set(key, left)
      else this.#of.delete(key)
    }
  }
}
