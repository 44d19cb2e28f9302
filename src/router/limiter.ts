import { LRUCache } from 'lru-cache'
import type { Envelope } from '../../schemas/envelope.ts'
import { Failure } from '../../schemas/failure.ts'
import { packageNameOf } from '../../schemas/names.ts'
import type { Call, RouterOptions } from './router.ts'

/** Calls a minute for an anonymous caller; a caller with a token has ten times as many. */
const perMinute = { read: 600, search: 120, execute: 20 }
type Class = keyof typeof perMinute

const withToken = 10
const trackedCallers = 50_000

/**
 * Token buckets in memory, one for each caller and class of call, filled evenly over a minute. A caller is its
 * token's subject, else its network address; calls of a local process and calls made by agents are not counted.
 */
export function createLimiter(clock: () => number): RouterOptions['admit'] {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: trackedCallers })

  return (envelope, call) => {
    const caller = callerOf(call)
    if (caller === undefined || call.hops) return undefined
    const policy = classOf(envelope)
    const limit = perMinute[policy] * (call.principal && !call.principal.confined_to ? withToken : 1)
    const now = clock()
    const key = `${policy} ${caller}`
    const bucket = buckets.get(key) ?? { tokens: limit, at: now }
    // A clock that was set back fills nothing, and takes nothing either.
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

function callerOf({ principal, client }: Call): string | undefined {
  if (client === undefined) return undefined
  return principal && !principal.confined_to ? JSON.stringify([principal.issuer, principal.subject]) : client
}

/** By what is asked, before anybody looks whether it exists: guessing names counts too. */
function classOf({ to, action, params }: Envelope): Class {
  const agent = packageNameOf(to)
  if (agent === 'svc.playground')
    return action === 'execute' ? 'execute' : action === 'discover' ? 'search' : 'read'
  if (agent !== 'svc.registry') return 'read'
  const searches = action === 'search' || action === 'discover' || params?.query !== undefined
  return searches ? 'search' : 'read'
}
