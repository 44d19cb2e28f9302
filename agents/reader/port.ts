import type { Code, Details } from '../../schemas/failure.ts'
import type { HtmlPage, PageContent, ReadingOptions } from './html-to-markdown/extract-page.ts'

/**
 * Fetches a URL. Throws Failure for network errors; an HTTP error status is an answer. Header names are lower case, the
 * body is decompressed.
 */
export type FetchPage = (request: {
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

/** A response to read, of any media type. */
export interface BodyJob extends ReadingOptions {
  readonly body: Uint8Array
  /** Value of the Content-Type header. */
  readonly content_type: string | undefined
  readonly url: string
}

export type ReaderJob = HtmlPage | BodyJob

/**
 * The way in which content was found: blocks of a page, the whole page, a selector, unchanged text, a feed or a PDF.
 */
export const extractors = ['blocks', 'whole', 'selector', 'verbatim', 'feed', 'pdf'] as const

/** Content and metadata of a document, with the fields of an HTML page. */
export interface Extracted extends Omit<PageContent, 'extractor'> {
  readonly extractor: (typeof extractors)[number]
  readonly word_count: number
  /** Digest of the content. */
  readonly digest: string
  /** Null for bytes that are not text, as in a PDF. */
  readonly charset: string | null
  /** Of a PDF. */
  readonly page_count: number | null
}

/** The result of the reader of one media type. */
export type Reading = Omit<Extracted, 'word_count' | 'digest' | 'charset' | 'page_count'>

/** Message of a worker thread: it has loaded, a result, a Failure, or another error. */
export type WorkerMessage =
  | { readonly ready: true }
  | { readonly extracted: Extracted }
  | { readonly code: Code; readonly message: string; readonly details: Details }
  | { readonly error: string }

/**
 * Reads a document in a thread that can be stopped; `caller` selects the lane of the queue. Throws Failure
 * `deadline_exceeded`,
 * `cancelled`, `unavailable`, `invalid_request` (the selector) or `upstream_invalid`.
 */
export type ExtractDocument = (job: ReaderJob, signal: AbortSignal, caller?: string) => Promise<Extracted>
