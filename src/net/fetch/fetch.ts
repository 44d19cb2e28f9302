import type { Readable } from 'node:stream'
import type { Failure } from '../../../schemas/failure.ts'

export type Method = 'GET' | 'POST' | 'HEAD' | 'DELETE'

/** One request to the outside world. */
export interface FetchRequest {
  readonly url: string
  readonly method?: Method
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** Most bytes of body after decompression; 5 MiB when absent. */
  readonly max_bytes?: number
  /** Refuse a redirect that leaves the origin or changes the method: what is sent is meant for that place. */
  readonly stays?: boolean
  /** Refuse every redirect. */
  readonly unmoved?: boolean
  /** For everything together: names, connections, redirects, body; 10,000 when absent, `none`: what the signal allows. */
  readonly timeout_ms?: number | 'none'
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

/** An answer that is read as it comes. Whoever has it reads the body to its end or destroys it. */
export interface OpenResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readable
  /** What went wrong with the body, as the Failure that its reader throws. */
  explain(error: unknown): Failure
}

/**
 * Sends a request that stays and gives its answer once the head is there; the body comes as it was sent, uncoded. Only
 * the caller's signal and the silence of the other side end it. Throws as Fetch does.
 */
export type Open = (
  request: Omit<FetchRequest, 'max_bytes' | 'timeout_ms' | 'stays' | 'unmoved'>,
) => Promise<OpenResponse>
