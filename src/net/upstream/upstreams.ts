import { LRUCache } from 'lru-cache'
import { Failure } from '../../../schemas/failure.ts'
import { isAboutPlan } from '../../common/about-plan.ts'
import type { Clock, Wait } from '../../common/clock.ts'
import { upTo } from '../../common/lru.ts'
import { retryAfter } from '../../common/retry-after.ts'
import type { AskUpstream, UpstreamLimits, Upstreams } from '../../common/upstream.ts'
import type { Fetch, FetchResponse } from '../fetch/fetch.ts'
import { createFairPolicy } from './fair-policy.ts'
import { SingleFlightCache } from './single-flight-cache.ts'
import type { UpstreamPolicy } from './upstream-policy.ts'

const maxOrigins = 1_000
/** Too many requests; 418 is Binance's status for clients that continue after a 429. */
const limitStatuses: ReadonlySet<number> = new Set([418, 429])
/** Seconds without requests after a status that limits the rate and names no time. */
const defaultRest_s = 30

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
      return (key, call, load) => cache.get(key, call, load)
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
    const policy = policies.get(origin) ?? createFairPolicy(host, limits, clock, wait)
    policies.set(origin, policy)
    return policy
  }
  return async (request, read) => {
    const attempt = async () => {
      const response = await fetch(request)
      const seconds = retryAfter(response.headers['retry-after'], clock())
      const retry = seconds === undefined ? {} : { retry_after_s: seconds }
      refuseTrouble(response, seconds)
      return refusedOr(() => read({ ...response, ...retry }))
    }
    const result = await policyOf(request.url)(request.signal, attempt, request.caller)
    if ('refusal' in result) throw result.refusal
    return result.value
  }
}

/** Throws for an answer that says something about the upstream, whatever the request was. */
function refuseTrouble({ status, body }: FetchResponse, seconds: number | undefined): void {
  const upstream = { status }
  if (status >= 500) {
    const retry = seconds === undefined ? {} : { retry_after_s: seconds }
    throw new Failure('upstream_failed', `HTTP ${status}`, { upstream, ...retry })
  }
  if (!limitStatuses.has(status) || isAboutPlan(textOf(body))) return
  throw new Failure('rate_limited', `HTTP ${status}`, { upstream, retry_after_s: seconds ?? defaultRest_s })
}

function textOf(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, 2_000))
}

/** Runs inside the circuit, so that the refusal of one request does not open the circuit. */
function refusedOr<Value>(read: () => Value): { value: Value } | { refusal: Failure } {
  try {
    return { value: read() }
  } catch (thrown) {
    const { status = 0 } = thrown instanceof Failure ? (thrown.details.upstream ?? {}) : {}
    if (thrown instanceof Failure && status >= 400 && status < 500) return { refusal: thrown }
    throw thrown
  }
}
