import type { Readable } from 'node:stream'
import type { Failure } from '../../../schemas/failure.ts'

export type FetchMethod = 'GET' | 'POST' | 'PUT' | 'HEAD' | 'DELETE'

/** A request to another server. */
export interface FetchRequest {
  readonly url: string
  readonly method?: FetchMethod
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** Maximum bytes of the body after decompression; 5 MiB when absent. */
  readonly max_bytes?: number
  /** Refuse a redirect to another origin or with another method: the request is meant for this origin alone. */
  readonly same_origin_only?: boolean
  /** Refuse every redirect. */
  readonly refuse_redirects?: boolean
  /** Milliseconds for everything: DNS, connections, redirects, body; 10,000 when absent. `none`: only the signal ends it. */
  readonly timeout_ms?: number | 'none'
}

export interface FetchResponse {
  /** Any HTTP status; an error status is an answer, not a Failure. */
  readonly status: number
  /** Names in lower case; repeated fields joined by commas; without `set-cookie`. */
  readonly headers: Readonly<Record<string, string>>
  /** URL of the answer, after redirects. */
  readonly url: string
  /** URLs that redirected, in order; empty without redirects. */
  readonly redirects: readonly string[]
  /** Decompressed. Empty for a GET that is answered by a stream of events, which has no end. */
  readonly body: Uint8Array
}

/**
 * Fetches a URL. Throws Failure `blocked_address`, `invalid_request` (the URL), `upstream_timeout`,
 * `upstream_failed`, `upstream_invalid`, `too_large` or `cancelled`.
 */
export type Fetch = (request: FetchRequest) => Promise<FetchResponse>

/** An answer whose body is a stream. The receiver reads the body to its end or destroys it. */
export interface OpenResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readable
  /** An error of the body as the Failure that its reader throws. */
  explain(error: unknown): Failure
}

/**
 * Sends a request as with `same_origin_only` and resolves when the head of the answer has arrived; the body is
 * decoded. Only the caller's signal and an idle connection end it. Throws as Fetch does.
 */
export type Open = (
  request: Omit<FetchRequest, 'max_bytes' | 'timeout_ms' | 'same_origin_only' | 'refuse_redirects'>,
) => Promise<OpenResponse>
