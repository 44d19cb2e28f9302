import { LRUCache } from 'lru-cache'
import { type Allowance, Failure } from '../../schemas/failure.ts'
import { upTo } from '../common/lru.ts'

const trackedCallers = 50_000

/** Token buckets in memory, one for each caller and policy, filled evenly over a minute. */
export class Buckets {
  readonly #clock: () => number
  readonly #buckets = new LRUCache<string, { tokens: number; at: number }>(upTo(trackedCallers))

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Counts one call of a caller under a policy, of `limit` a minute. Throws Failure `rate_limited`. */
  take(policy: string, caller: string, limit: number): Allowance {
    const filled = this.#filled(policy, caller, limit)
    if (filled < 1) {
      this.#set(policy, caller, filled)
      throw rateLimited({ policy, limit, remaining: 0, reset_s: secondsUntil(1 - filled, limit) })
    }
    this.#set(policy, caller, filled - 1)
    return {
      policy,
      limit,
      remaining: Math.floor(filled - 1),
      reset_s: secondsUntil(limit - filled + 1, limit),
    }
  }

  /**
   * Takes what a call has cost. The bucket may become negative, down to minus `limit`: the caller then waits until it
   * is filled again.
   */
  charge(policy: string, caller: string, limit: number, units: number): void {
    const filled = this.#filled(policy, caller, limit)
    this.#set(policy, caller, Math.max(-limit, Math.min(limit, filled - units)))
  }

  /** The seconds until the bucket is no longer empty; 0 if it is not empty. */
  secondsEmpty(policy: string, caller: string, limit: number): number {
    const filled = this.#filled(policy, caller, limit)
    return filled > 0 ? 0 : Math.max(1, secondsUntil(-filled, limit))
  }

  #filled(policy: string, caller: string, limit: number): number {
    const bucket = this.#buckets.get(`${policy} ${caller}`)
    if (!bucket) return limit
    // A clock that was set back adds no tokens and removes none.
    const elapsed = Math.max(0, this.#clock() - bucket.at)
    return Math.min(limit, bucket.tokens + (elapsed / 60_000) * limit)
  }

  #set(policy: string, caller: string, tokens: number): void {
    this.#buckets.set(`${policy} ${caller}`, { tokens, at: this.#clock() })
  }
}

/** The refusal of a call beyond a limit; `reset_s` is the time until the next call. */
export function rateLimited(allowance: Allowance): Failure {
  const { policy, limit, reset_s: retry_after_s } = allowance
  const failure = new Failure('rate_limited', `More than ${limit} calls a minute (${policy}).`, {
    hint: `Ask again in ${retry_after_s} s.`,
    retry_after_s,
  })
  return Object.assign(failure, { allowance })
}

function secondsUntil(tokens: number, limit: number): number {
  return Math.ceil((tokens / limit) * 60)
}
