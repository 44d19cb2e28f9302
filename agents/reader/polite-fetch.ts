import { LRUCache } from 'lru-cache'
import { Failure } from '../../schemas/failure.ts'
import type { Clock } from '../../src/common/clock.ts'
import { retryAfter } from '../../src/common/retry-after.ts'
import { createKeyedSemaphore } from '../../src/common/semaphore.ts'
import type { FetchPage } from './port.ts'

/** Fetches a URL for a caller, as FetchPage does. */
export type PoliteFetch = (
  request: Parameters<FetchPage>[0] & { readonly caller: string },
) => ReturnType<FetchPage>

/** Concurrent requests to one host, and those of one caller; further requests wait. */
const maxConcurrent = 6
const maxConcurrentOfCaller = 4
/** Concurrent requests of one caller to all hosts: redirects may lead all of them to one host. */
const maxConcurrentInAll = 16
/** Maximum seconds for which a host is not called, whatever its `Retry-After` says. */
const maxRest_s = 3600
/** Callers and hosts whose `Retry-After` is remembered. */
const maxRests = 10_000

/**
 * A fetch with few concurrent requests per host. It sends no request of a caller to a host before the time in the
 * host's `Retry-After` (with status 429 or 503), and throws Failure `circuit_open` until then. Other callers are not
 * affected: a caller chooses the URL and thereby the answer.
 */
export function createPoliteFetch(fetch: FetchPage, clock: Clock): PoliteFetch {
  const until = new LRUCache<string, number>({ max: maxRests })
  const acquire = createKeyedSemaphore(maxConcurrent)
  const acquireInAll = createKeyedSemaphore(maxConcurrentInAll)
  const acquireForCaller = createKeyedSemaphore(maxConcurrentOfCaller)

  function refuseUntilRested(host: string, caller: string): void {
    const rest = (until.get(restKey(host, caller)) ?? 0) - clock()
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

  return async ({ caller, ...request }) => {
    const host = URL.canParse(request.url) ? new URL(request.url).host : ''
    refuseUntilRested(host, caller)
    const { signal } = request
    const inTime = orCancelled(signal)
    using _slotInAll = await inTime(acquireInAll(caller, signal))
    using _callerSlot = await inTime(acquireForCaller(restKey(host, caller), signal))
    using _slot = await inTime(acquire(host, signal))
    refuseUntilRested(host, caller)
    const response = await fetch(request)
    const rest_s = retryAfter(response.headers['retry-after'], clock())
    if (rest_s && (response.status === 429 || response.status === 503)) {
      until.set(restKey(new URL(response.url).host, caller), clock() + Math.min(rest_s, maxRest_s) * 1000)
    }
    return response
  }
}

function restKey(host: string, caller: string): string {
  return `${host} ${caller}`
}

/** Waits for a slot; the end of the call is a Failure. */
function orCancelled(signal: AbortSignal) {
  return async (slot: Disposable | Promise<Disposable>): Promise<Disposable> => {
    try {
      return await slot
    } catch (thrown) {
      throw thrown instanceof Failure ? thrown : Failure.cancelled(signal)
    }
  }
}
