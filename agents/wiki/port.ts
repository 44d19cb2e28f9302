/** An answer of the outside world; error statuses below 500 are answers too. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Seconds after which the upstream wants to be asked again, where it says so. */
  readonly retry_after_s?: number
}

/**
 * Asks an upstream, when it may be asked, and reads its answer. What `read` throws as Failure `upstream_…` counts
 * against the upstream. Throws Failure `circuit_open` with `retry_after_s` while it is left alone, `upstream_failed`
 * for 429 and 5xx, and what the network brings.
 */
export type Ask = <Value>(
  request: {
    url: string
    method?: 'GET' | 'POST'
    body?: string
    headers?: Readonly<Record<string, string>>
    signal: AbortSignal
    max_bytes?: number
    timeout_ms?: number
  },
  read: (answer: Answer) => Value,
) => Promise<Value>

/** How an upstream wants to be treated: milliseconds between requests, how many at once after a rest, and together. */
export interface Limits {
  readonly gap_ms: number
  readonly burst: number
  readonly together: number
}

/** Milliseconds since the epoch. */
export type Clock = () => number

/** A value and how fresh it is: `at` in milliseconds since the epoch, `age_s` in whole seconds. */
export interface Cached<Value> {
  readonly value: Value
  readonly at: number
  readonly cache: { readonly hit: boolean; readonly age_s: number; readonly stale: boolean }
  /** True for a stale value whose upstream failed when it was asked for a new one. */
  readonly in_trouble: boolean
}

/** Makes a bounded cache whose callers share one fetch of a key; times are in milliseconds. */
export type CreateCache = <Value extends object>(settings: {
  readonly entries: number
  /** For how long a value is fresh. */
  lifetime(value: Value): number
  /** For how long after that it is given at once, while a new one is fetched in the background. */
  refresh(value: Value): number
  /** For how long it may stand in while the upstream is in trouble. */
  stand_in(value: Value): number
}) => (
  key: string,
  signal: AbortSignal,
  fetch: (signal: AbortSignal) => Promise<Value>,
) => Promise<Cached<Value>>

/** What this agent is given of the outside world. */
export interface Upstreams {
  readonly create_upstream: (limits: Limits) => Ask
  readonly create_cache: CreateCache
  readonly clock: Clock
}
