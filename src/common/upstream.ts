import type { Clock, Wait } from './clock.ts'
import type { Rate } from './rate.ts'

/** The call for which an upstream is called. */
export interface UpstreamCall {
  readonly signal: AbortSignal
  /** Key of the caller: failures and requests of one caller do not make those of another fail. */
  readonly caller: string
}

/** The upstream call of an action's context; a local process is one caller. */
export function upstreamCallOf({ signal, counted_as = '' }: CallContext): UpstreamCall {
  return { signal, caller: counted_as }
}

interface CallContext {
  readonly signal: AbortSignal
  readonly counted_as?: string
}

/** A request to an upstream. */
interface UpstreamRequest {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly caller?: string
  readonly max_bytes?: number
  readonly timeout_ms?: number
}

/** An HTTP answer; a status from 400 to 499 is an answer too, unless it limits the rate. Header names are lower case. */
export interface UpstreamAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** `Retry-After` in seconds, if the upstream sent one. */
  readonly retry_after_s?: number
}

/**
 * Sends a request once the limits of the upstream allow it, and reads the answer. A Failure `upstream_…` that `read`
 * throws counts against the upstream, unless its `upstream.status` is 400 to 499: then the upstream refuses this
 * request alone. The `retry_after_s` of a counted Failure is respected. Throws Failure `circuit_open` with
 * `retry_after_s` while the circuit is open, `rate_limited` for 429 and while a further request would exceed the rate,
 * `upstream_failed` for 5xx, and the errors of the fetch.
 */
export type AskUpstream = <Value>(
  request: UpstreamRequest,
  read: (answer: UpstreamAnswer) => Value,
) => Promise<Value>

/** Limits that an upstream sets for its clients. */
export interface UpstreamLimits extends Rate {
  /** Maximum concurrent requests; further requests wait. */
  readonly max_in_flight: number
  /** Maximum concurrent requests of one caller, if callers are distinguished; no limit when absent. */
  readonly max_in_flight_per_caller?: number
  /** Maximum tasks that the upstream works on without a slot; 0 when absent. */
  readonly max_tasks?: number
  /** Upper bound for the pause that the upstream asks for by `Retry-After`, in milliseconds; a day when absent. */
  readonly max_rest_ms?: number
}

/** A value and its freshness: `at` in milliseconds since the epoch, `age_s` in whole seconds. */
export interface Cached<Value> {
  readonly value: Value
  readonly at: number
  readonly cache: { readonly hit: boolean; readonly age_s: number; readonly stale: boolean }
  /** True for a stale value whose upstream failed at the last refresh. */
  readonly in_trouble: boolean
}

export interface CacheSettings<Value> {
  readonly entries: number
  /** Milliseconds for which a value is fresh. */
  lifetime(value: Value): number
  /** Milliseconds after that for which a stale value is served at once while a background fetch refreshes it. */
  refresh(value: Value): number
  /** Milliseconds for which a stale value may be served while the upstream fails. */
  stand_in(value: Value): number
}

/** Resolves to the cached value of a key, or to the result of `fetch`, which may run once more for another caller. */
type CachedFetch<Value> = (
  key: string,
  call: UpstreamCall,
  fetch: (call: UpstreamCall) => Promise<Value>,
) => Promise<Cached<Value>>

/** Creates a bounded cache; concurrent callers of a key share one fetch. */
type CreateCache = <Value extends object>(settings: CacheSettings<Value>) => CachedFetch<Value>

/** How agents reach upstreams: one policy for limits and circuits, one kind of cache, one clock. */
export interface Upstreams {
  /** Each origin has its own rate, semaphore and circuit, shared fairly by the callers. */
  readonly create_upstream: (limits: UpstreamLimits) => AskUpstream
  readonly create_cache: CreateCache
  readonly clock: Clock
  readonly wait: Wait
}
