import type { Clock } from '../../src/common/clock.ts'
import type { ReadingOptions } from './html-to-markdown/extract-page.ts'
import type { PoliteFetch } from './polite-fetch.ts'
import type { ExtractDocument, Extracted } from './port.ts'
import { throwForStatus } from './status.ts'

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
