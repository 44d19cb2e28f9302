import { LRUCache } from 'lru-cache'
import { Failure } from '../../../schemas/failure.ts'
import type { Clock, Wait } from '../../common/clock.ts'
import { upTo } from '../../common/lru.ts'
import { retryAfter } from '../../common/retry-after.ts'
import type { AskUpstream, UpstreamLimits, Upstreams } from '../../common/upstream.ts'
import type { Fetch } from '../fetch/fetch.ts'
import { SingleFlightCache } from './single-flight-cache.ts'
import { createUpstreamPolicy, type UpstreamPolicy } from './upstream-policy.ts'

const maxOrigins = 1_000

/** Creates the upstream clients and caches of agents. Disposing aborts every fetch, background fetches too. */
export function createUpstreams({
  fetch,
  clock,
  wait,
}: {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly wait: Wait
}): Upstreams & AsyncDisposable {
  const closing = new AbortController()
  return {
    clock,
    wait,
    create_upstream: (limits) => createAsk(fetch, limits, clock, wait),
    create_cache(settings) {
      const cache = new SingleFlightCache(settings, { clock, wait, closing: closing.signal })
      return (key, signal, load) => cache.get(key, signal, load)
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Failure('cancelled', 'The gateway is closing.'))
    },
  }
}

function createAsk(fetch: Fetch, limits: UpstreamLimits, clock: Clock, wait: Wait): AskUpstream {
  const policies = new LRUCache<string, UpstreamPolicy>(upTo(maxOrigins))
  const policyOf = (url: string) => {
    const { origin, host } = URL.canParse(url) ? new URL(url) : { origin: '', host: 'The upstream' }
    const policy = policies.get(origin) ?? createUpstreamPolicy(host, limits, clock, wait)
    policies.set(origin, policy)
    return policy
  }
  return (request, read) =>
    policyOf(request.url)(request.signal, async () => {
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
