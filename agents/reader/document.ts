import { type Details, Failure } from '../../schemas/failure.ts'
import type { Clock } from '../../src/common/clock.ts'
import { retryAfter } from '../../src/common/retry-after.ts'
import type { ReadingOptions } from './html-to-markdown/extract-page.ts'
import type { PoliteFetch } from './polite-fetch.ts'
import type { ExtractDocument, Extracted } from './port.ts'

/** A document, fetched and read as a whole. */
export interface Document extends Extracted {
  readonly final_url: string
  readonly status: number
  readonly content_type: string | null
  /** Milliseconds since the epoch. */
  readonly fetched_at: number
}

export interface DocumentPorts {
  readonly fetch: PoliteFetch
  readonly extract: ExtractDocument
  readonly clock: Clock
}

/** The document to read, and the caller. */
export interface DocumentRequest extends ReadingOptions {
  readonly url: string
  /** Key of the caller, for fair scheduling. */
  readonly caller: string
}

const accept =
  'text/html, application/xhtml+xml, text/markdown, text/*;q=0.9, application/pdf;q=0.8, application/json;q=0.8, */*;q=0.5'

/**
 * Fetches and reads a URL. Throws Failure for network errors, error statuses and unsupported types; see the README.
 */
export async function readDocument(
  ports: DocumentPorts,
  { caller, ...request }: DocumentRequest,
  signal: AbortSignal,
): Promise<Document> {
  const response = await ports.fetch({ url: request.url, headers: { accept }, signal, caller })
  throwForStatus(response, ports.clock())
  const content_type = response.headers['content-type']
  const job = { ...request, url: response.url, body: response.body, content_type }
  const extracted = await ports.extract(job, signal, caller)
  const isInsecure = request.url.startsWith('https:') && response.url.startsWith('http:')
  return {
    ...extracted,
    warnings: [...extracted.warnings, ...(isInsecure ? ['A redirect led from https to http.'] : [])],
    final_url: response.url,
    status: response.status,
    content_type: content_type?.split(';')[0]?.trim().toLowerCase().slice(0, 100) || null,
    fetched_at: ports.clock(),
  }
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly url: string
}

/** Throws the Failure for an HTTP error status of the page's server; returns for any other status. */
function throwForStatus({ status, headers, url }: Answer, now: number): void {
  if (status >= 200 && status < 300) return
  const { host } = new URL(url)
  if (status === 404 || status === 410) {
    throw new Failure('not_found', `${host} has no such page.`, { upstream: { status } })
  }
  const retry_after_s = retryAfter(headers['retry-after'], now)
  const details: Details = { upstream: { status }, ...(retry_after_s !== undefined && { retry_after_s }) }
  if (status === 402) {
    const hint = 'The page must be paid for. Look for the same text elsewhere.'
    throw new Failure('upstream_failed', `${host} asks for payment for the page (402).`, { ...details, hint })
  }
  if (status === 401 || status === 403) {
    const hint = isBotWall(headers)
      ? 'The server admits only browsers. Look for the same text elsewhere, or for an API.'
      : 'The page needs a login, or its server refuses programs.'
    throw new Failure('upstream_failed', `${host} refuses access to the page (${status}).`, {
      ...details,
      hint,
    })
  }
  if (status === 429)
    throw new Failure('upstream_failed', `${host} answered with too many requests (429).`, details)
  throw new Failure('upstream_failed', `${host} answered with status ${status}.`, details)
}

/** Headers of well-known bot walls that demand a browser. */
function isBotWall(headers: Answer['headers']): boolean {
  return headers['cf-mitigated'] === 'challenge' || 'x-datadome' in headers || 'x-amzn-waf-action' in headers
}
