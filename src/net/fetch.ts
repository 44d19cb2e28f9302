/** One request to the outside world. */
export interface FetchRequest {
  readonly url: string
  readonly method?: 'GET' | 'POST' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** Most bytes of body after decompression; 5 MiB when absent. */
  readonly max_bytes?: number
  /** For everything together: names, connections, redirects, body; 10,000 when absent. */
  readonly timeout_ms?: number
}

export interface FetchResponse {
  /** Any HTTP status: an error status is an answer, not a failure. */
  readonly status: number
  /** Names in lower case; several fields of one name joined by commas. Without `set-cookie`. */
  readonly headers: Readonly<Record<string, string>>
  /** Where the answer came from, after redirects. */
  readonly url: string
  /** The addresses that redirected, in order; empty when the first one answered. */
  readonly redirects: readonly string[]
  /** Decompressed. */
  readonly body: Uint8Array
}

/**
 * Fetches a URL. Throws Failure `blocked_address`, `invalid_request` (the URL), `upstream_timeout`,
 * `upstream_failed`, `upstream_invalid`, `too_large` or `cancelled`.
 */
export type Fetch = (request: FetchRequest) => Promise<FetchResponse>
