/** The one door to the outside that this agent is given. Throws Failure for network trouble, returns HTTP error statuses as they are. */
export type Fetch = (request: {
  url: string
  method?: 'GET' | 'POST' | 'HEAD'
  headers?: Readonly<Record<string, string>>
  body?: string
  signal: AbortSignal
  max_bytes?: number
  timeout_ms?: number
}) => Promise<{
  status: number
  headers: Readonly<Record<string, string>>
  url: string
  redirects: readonly string[]
  body: Uint8Array
}>

/** Milliseconds since the epoch. */
export type Clock = () => number

/** A value and how fresh it is: `at` in milliseconds since the epoch, `age_s` in whole seconds. */
export interface Cached<Value> {
  readonly value: Value
  readonly at: number
  readonly cache: { readonly hit: boolean; readonly age_s: number; readonly stale: boolean }
}

/** Makes a bounded cache whose callers share one fetch of a key; times are in milliseconds. */
export type CreateCache = <Value extends object>(settings: {
  readonly entries: number
  /** For how long a value is fresh. */
  lifetime(value: Value): number
  /** For how long it may stand in while the upstream is in trouble. */
  stand_in(value: Value): number
}) => (
  key: string,
  signal: AbortSignal,
  fetch: (signal: AbortSignal) => Promise<Value>,
) => Promise<Cached<Value>>
