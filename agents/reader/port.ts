import type { Code, Details } from '../../schemas/failure.ts'

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

/** How a page is to be read: in which format, and what of it. */
export interface Manner {
  readonly format: Format
  /** True when absent; otherwise the words of links alone are given. */
  readonly include_links?: boolean
  /** True when absent. */
  readonly include_images?: boolean
  /** What to give instead of the main content; see html/selector.ts. */
  readonly selector?: string | undefined
  /** `main` when absent; `full` is the page without its furniture. */
  readonly mode?: 'main' | 'full'
}

/** A page to read: its HTML as text and where it came from. */
export interface PageJob extends Manner {
  readonly html: string
  readonly url: string
}

/** An answer to read, of whatever type. */
export interface BodyJob extends Manner {
  readonly body: Uint8Array
  /** The header. */
  readonly content_type: string | undefined
  readonly url: string
}

export type Job = PageJob | BodyJob

/** How content was found: the blocks that are it, the whole page, what was asked for, or as it came. */
export const extractors = ['blocks', 'whole', 'selector', 'verbatim', 'feed', 'pdf'] as const

/** Why there is next to nothing. */
export const emptyReasons = [
  'js_only_page',
  'login_wall',
  'paywall',
  'blocked',
  'not_found',
  'no_match',
  'no_text',
] as const
export type EmptyReason = (typeof emptyReasons)[number]

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
  readonly word_count: number
  /** What tells this content from any other. */
  readonly digest: string
  readonly extractor: (typeof extractors)[number]
  /** How well the content was found, expected F1 from 0 to 1; null where nothing had to be found. */
  readonly confidence: number | null
  /** Null where it was text already. */
  readonly charset: string | null
  /** Of a PDF. */
  readonly page_count: number | null
  readonly empty_reason: EmptyReason | null
  readonly warnings: readonly string[]
}

/** What a thread says: that it has loaded, what a page says, a failure of ours, or the error that reading died of. */
export type Answer =
  | { readonly ready: true }
  | { readonly extracted: Extracted }
  | { readonly code: Code; readonly message: string; readonly details: Details }
  | { readonly error: string }

/**
 * Reads a page somewhere it can be stopped; `caller` is whose turn it takes. Throws Failure `deadline_exceeded`,
 * `cancelled`, `unavailable`, `invalid_request` (the selector) or `upstream_invalid`.
 */
export type Extract = (job: Job, signal: AbortSignal, caller?: string) => Promise<Extracted>
