import { Failure } from '../../../schemas/failure.ts'

export interface FollowerLimits {
  /** Followers of one process. */
  readonly all: number
  /** Those of one network address, without tokens. */
  readonly address: number
  /** Those with tokens of one subject. */
  readonly subject: number
}

interface FollowerIdentity {
  readonly counted_as: string | undefined
  readonly has_token: boolean
}

const standard: FollowerLimits = { all: 4000, address: 16, subject: 64 }

/** Takes a seat until it is disposed. Throws Failure `unavailable` where all are taken, `rate_limited` where one's own are. */
export function createFollowerLimit(
  limits: Partial<FollowerLimits> = {},
): (who: FollowerIdentity) => Disposable {
  const { all, address, subject } = { ...standard, ...limits }
  const held = new Map<string, number>()
  let total = 0

  return ({ counted_as, has_token }) => {
    const own = has_token ? subject : address
    const count = counted_as === undefined ? 0 : (held.get(counted_as) ?? 0)
    if (total >= all) throw new Failure('unavailable', `${all} follow already.`, hint)
    if (count >= own) throw new Failure('rate_limited', `You follow ${own} times already.`, hint)
    total += 1
    if (counted_as !== undefined) held.set(counted_as, count + 1)
    return {
      [Symbol.dispose]() {
        total -= 1
        if (counted_as === undefined) return
        const left = (held.get(counted_as) ?? 1) - 1
        if (left > 0) held.set(counted_as, left)
        else held.delete(counted_as)
      },
    }
  }
}

const hint = { hint: 'Close a stream, or ask for pages: they are always answered.', retry_after_s: 5 }
