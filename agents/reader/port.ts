/**
 * The one door to the outside. Throws Failure for what the network does; an HTTP error status is an answer.
 * Header names are lower case, the body is decompressed.
 */
export type Fetch = (request: {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly max_bytes?: number
  readonly timeout_ms?: number
}) => Promise<{
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly url: string
  readonly redirects: readonly string[]
  readonly body: Uint8Array
}>

export type Format = 'markdown' | 'text'

/** A page to read: its HTML as text, where it came from, and what to make of it. */
export interface ExtractJob {
  readonly html: string
  readonly url: string
  readonly format: Format
}

/** What a page says. Null where the page does not tell. */
export interface Extracted {
  readonly title: string | null
  readonly byline: string | null
  readonly site_name: string | null
  readonly published: string | null
  readonly language: string | null
  readonly excerpt: string | null
  /** In the format asked for. */
  readonly content: string
  readonly extractor: 'blocks' | 'whole'
  /** How well the content was found, expected F1 from 0 to 1; null where there was nothing to find. */
  readonly confidence: number | null
  /** Why there is next to nothing, where there is. */
  readonly empty_reason: string | null
  readonly warnings: readonly string[]
}

/** Reads a page somewhere it can be stopped. Throws Failure `deadline_exceeded`, `cancelled`, `unavailable` or `upstream_invalid`. */
export type Extract = (job: ExtractJob, signal: AbortSignal) => Promise<Extracted>

/** Milliseconds since the epoch. */
export type Clock = () => number
