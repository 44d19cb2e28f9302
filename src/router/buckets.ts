import { LRUCache } from 'lru-cache'
import { Failure } from '../../schemas/failure.ts'
import { upTo } from '../common/lru.ts'
import type { Allowance } from './call.ts'

const trackedCallers = 50_000

/** Counts one call of a caller under a policy, of `limit` a minute. Throws Failure `rate_limited`. */
type Take = (policy: string, caller: string, limit: number) => Allowance

/** Token buckets in memory, one for each caller and policy, filled evenly over a minute. */
export function createBuckets(clock: () => number): Take {
  const buckets = new LRUCache<string, { tokens: number; at: number }>(upTo(trackedCallers))

  return (policy, caller, limit) => {
    const now = clock()
    const key = `${policy} ${caller}`
    const bucket = buckets.get(key) ?? { tokens: limit, at: now }
    // A clock that was set back adds no tokens and removes none.
    const elapsed = Math.max(0, now - bucket.at)
    const filled = Math.min(limit, bucket.tokens + (elapsed / 60_000) * limit)
    if (filled < 1) {
      buckets.set(key, { tokens: filled, at: now })
      const wait = Math.ceil(((1 - filled) / limit) * 60)
      throw new Failure('rate_limited', `More than ${limit} calls a minute (${policy}).`, {
        retry_after_s: wait,
      })
    }
    buckets.set(key, { tokens: filled - 1, at: now })
    const reset_s = Math.ceil(((limit - filled + 1) / limit) * 60)
    return { policy, limit, remaining: Math.floor(filled - 1), reset_s }
  }
}
