import { decode } from './charset.ts'
import { kindOf, parseMediaType } from './media-type.ts'
import type { Clock, Extract, Extracted, Fetch, Format } from './port.ts'
import { throwForStatus } from './status.ts'

/** A page as it was fetched and read, whole. */
export interface Document extends Omit<Extracted, 'extractor'> {
  readonly extractor: Extracted['extractor'] | 'verbatim'
  readonly final_url: string
  readonly status: number
  readonly content_type: string | null
  readonly charset: string
  /** Milliseconds since the epoch. */
  readonly fetched_at: number
}

export interface DocumentPorts {
  readonly fetch: Fetch
  readonly extract: Extract
  readonly clock: Clock
}

const accept =
  'text/html, application/xhtml+xml, text/markdown, text/*;q=0.9, application/json;q=0.8, */*;q=0.5'

/** Fetches and reads a URL. Throws Failure for what the network, the status or the type is; see the README. */
export async function readDocument(
  ports: DocumentPorts,
  url: string,
  format: Format,
  signal: AbortSignal,
): Promise<Document> {
  const response = await ports.fetch({ url, headers: { accept }, signal })
  throwForStatus(response.status, response.headers, new URL(response.url).host)
  const type = parseMediaType(response.headers['content-type'])
  const kind = kindOf(type, response.body)
  const { text, charset } = decode(response.body, type.charset, kind === 'html')
  const said =
    kind === 'html'
      ? await ports.extract({ html: text, url: response.url, format }, signal)
      : verbatim(text, kind === 'json' && format === 'markdown')
  const insecure = url.startsWith('https:') && response.url.startsWith('http:')
  return {
    ...said,
    warnings: [...said.warnings, ...(insecure ? ['A redirect led from https to http.'] : [])],
    final_url: response.url,
    status: response.status,
    content_type: type.essence || null,
    charset,
    fetched_at: ports.clock(),
  }
}

const unknown = { title: null, byline: null, site_name: null, published: null, language: null, excerpt: null }

function verbatim(text: string, isFenced: boolean) {
  const content = isFenced ? fenced(text.trim()) : text
  const empty_reason = text.trim() === '' ? 'no_text' : null
  return { ...unknown, content, extractor: 'verbatim' as const, confidence: null, empty_reason, warnings: [] }
}

/** A fence longer than any run of backticks inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).slice(0, 10_000).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}json\n${text}\n${fence}`
}
