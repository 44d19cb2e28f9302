import { Failure } from '../../../schemas/failure.ts'

export interface FollowerLimits {
  /** Maximum followers of this process; half of them are kept for callers with tokens. */
  readonly all: number
  /** Maximum followers without tokens from one network address. */
  readonly address: number
  /** Maximum followers with tokens of one subject. */
  readonly subject: number
}

/** A client of the change feed. */
export interface Follower {
  /** The key that limits count by; undefined for a local process. */
  readonly counted_as: string | undefined
  readonly has_token: boolean
}

const standard: FollowerLimits = { all: 4000, address: 16, subject: 64 }

/**
 * Counts one more follower until disposed. Throws Failure `unavailable` at the limit of all followers, `rate_limited`
 * at the caller's own limit.
 */
export function createFollowerLimit(limits: Partial<FollowerLimits> = {}): (who: Follower) => Disposable {
  const { all, address, subject } = { ...standard, ...limits }
  const held = new Map<string, number>()
  let total = 0
  let anonymous = 0

  return ({ counted_as, has_token }) => {
    const own = has_token ? subject : address
    const count = counted_as === undefined ? 0 : (held.get(counted_as) ?? 0)
    const isFull = total >= all || (!has_token && anonymous >= Math.ceil(all / 2))
    if (isFull)
      throw new Failure('unavailable', `${all} followers are connected, which is the maximum.`, hint)
    if (count >= own)
      throw new Failure('rate_limited', `You have ${own} connected followers, which is the maximum.`, hint)
    total += 1
    if (!has_token) anonymous += 1
    if (counted_as !== undefined) held.set(counted_as, count + 1)
    return {
      [Symbol.dispose]() {
        total -= 1
        if (!has_token) anonymous -= 1
        if (counted_as === undefined) return
        const left = (held.get(counted_as) ?? 1) - 1
        if (left > 0) held.set(counted_as, left)
        else held.delete(counted_as)
      },
    }
  }
}

const hint = { hint: 'Close a stream, or ask for pages, which are not limited.', retry_after_s: 5 }
