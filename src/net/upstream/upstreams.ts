import { LRUCache } from 'lru-cache'
import { Failure } from '../../../schemas/failure.ts'
import type { Clock, Wait } from '../../common/clock.ts'
import { retryAfter } from '../../common/retry-after.ts'
import type { Fetch, FetchRequest, FetchResponse } from '../fetch/fetch.ts'
import { type CreateCache, createFlightCache } from './flight-cache.ts'
import { createGate, type Gate, type Limits } from './upstream-policy.ts'

/** An answer, and the seconds after which the upstream wants to be asked again, where it says so. */
export type UpstreamAnswer = FetchResponse & { readonly retry_after_s?: number }

/**
 * Asks an upstream and reads its answer. A Failure `upstream_…` that `read` throws counts against the upstream, its
 * `retry_after_s` is kept to. Throws `upstream_failed` for 429 and 5xx, `circuit_open`, and what the fetch throws.
 */
export type Ask = <Value>(request: FetchRequest, read: (answer: UpstreamAnswer) => Value) => Promise<Value>

/** What agents that call the outside have in common: one policy towards upstreams, and one kind of cache. */
export interface Upstreams extends AsyncDisposable {
  /** Origins are kept apart: each has its own pace, places and circuit. */
  readonly create_upstream: (limits: Limits) => Ask
  readonly create_cache: CreateCache
  readonly clock: Clock
  readonly wait: Wait
}

const mostOrigins = 1_000

/** Disposing ends every flight, those in the background too. */
export function createUpstreams({
  fetch,
  clock,
  wait,
}: {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly wait: Wait
}): Upstreams {
  const closing = new AbortController()
  return {
    clock,
    wait,
    create_upstream: (limits) => createAsk(fetch, limits, clock, wait),
    create_cache: (settings) => createFlightCache(settings, { clock, wait, closing: closing.signal }),
    async [Symbol.asyncDispose]() {
      closing.abort(new Failure('cancelled', 'The gateway is closing.'))
    },
  }
}

function createAsk(fetch: Fetch, limits: Limits, clock: Clock, wait: Wait): Ask {
  const gates = new LRUCache<string, Gate>({ max: mostOrigins })
  const gateOf = (url: string) => {
    const { origin, host } = URL.canParse(url) ? new URL(url) : { origin: '', host: 'The upstream' }
    const gate = gates.get(origin) ?? createGate(host, limits, clock, wait)
    gates.set(origin, gate)
    return gate
  }
  return (request, read) =>
    gateOf(request.url)(request.signal, async () => {
      const response = await fetch(request)
      const seconds = retryAfter(response.headers['retry-after'], clock())
      const retry = seconds === undefined ? {} : { retry_after_s: seconds }
      const { status } = response
      if (status === 429 || status >= 500) {
        throw new Failure('upstream_failed', `HTTP ${status}`, { upstream: { status }, ...retry })
      }
      return read({ ...response, ...retry })
    })
}
