import { LRUCache } from 'lru-cache'
import { Failure } from '../../schemas/failure.ts'
import type { Clock } from '../../src/common/clock.ts'
import { createKeyedSemaphore } from '../../src/common/keyed-semaphore.ts'
import { retryAfter } from '../../src/common/retry-after.ts'
import type { FetchPage } from './port.ts'

/** Concurrent requests to one host; further requests wait. */
const maxConcurrent = 6
/** Maximum seconds for which a host is not called, whatever its `Retry-After` says. */
const maxRest_s = 3600
/** Hosts whose `Retry-After` is remembered. */
const maxHosts = 10_000

/**
 * A fetch with few concurrent requests per host. It sends no request to a host before the time in the host's
 * `Retry-After` (with status 429 or 503), and throws Failure `circuit_open` until then.
 */
export function createPoliteFetch(fetch: FetchPage, clock: Clock): FetchPage {
  const until = new LRUCache<string, number>({ max: maxHosts })
  const acquire = createKeyedSemaphore(maxConcurrent)

  function refuseUntilRested(host: string): void {
    const rest = (until.get(host) ?? 0) - clock()
    if (rest <= 0) return
    const retry_after_s = Math.ceil(rest / 1000)
    throw new Failure(
      'circuit_open',
      `${host} accepts no requests for ${retry_after_s} s more (Retry-After).`,
      {
        retry_after_s,
      },
    )
  }

  return async (request) => {
    const host = URL.canParse(request.url) ? new URL(request.url).host : ''
    refuseUntilRested(host)
    using _slot = await acquire(host, request.signal).catch((thrown: unknown) => {
      throw thrown instanceof Failure ? thrown : Failure.cancelled(request.signal)
    })
    refuseUntilRested(host)
    const response = await fetch(request)
    const rest_s = retryAfter(response.headers['retry-after'], clock())
    if (rest_s && (response.status === 429 || response.status === 503)) {
      until.set(new URL(response.url).host, clock() + Math.min(rest_s, maxRest_s) * 1000)
    }
    return response
  }
}
