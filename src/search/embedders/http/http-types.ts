/**
 * The HTTP client of this embedder. Throws Failure for network errors; an HTTP error status is an answer. Header names
 * are lower case, the body is decompressed.
 */
export type EmbeddingsFetch = (request: {
  readonly url: string
  readonly method: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  readonly max_bytes: number
  readonly timeout_ms: number
}) => Promise<{
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}>

/** Waits for this number of milliseconds, or rejects as soon as the signal aborts. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<unknown>
