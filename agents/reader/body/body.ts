import { decode } from '../charset.ts'
import { extractPage } from '../html-to-markdown/extract-page.ts'
import { kindOf, parseMediaType } from '../media-type.ts'
import type { BodyJob, Extracted, Reading } from '../port.ts'
import { csvOf } from './csv.ts'
import { readFeed } from './feed.ts'
import { fenced, verbatim } from './verbatim.ts'

type BodyReading = Reading & Pick<Extracted, 'charset' | 'page_count'>

/** Reads a body by its header and its first bytes. Throws Failure `upstream_invalid` for a body that is not text. */
export async function readBody(job: BodyJob): Promise<BodyReading> {
  const type = parseMediaType(job.content_type)
  const kind = kindOf(type, job.body)
  if (kind === 'pdf') {
    // 1.5 MB of code, loaded only for PDFs.
    const { readPdf } = await import('./pdf.ts')
    return { ...(await readPdf(job.body)), charset: null }
  }
  const { text, charset } = decode(job.body, type.charset, kind === 'html')
  const isMarkdown = job.format === 'markdown'
  const read = () => {
    if (kind === 'html') return extractPage({ ...job, html: text })
    if (kind === 'feed') return readFeed(text, job) ?? verbatim(text)
    if (kind === 'json' && isMarkdown) return verbatim(fenced(text.trim(), 'json'))
    if (kind === 'csv' && isMarkdown) return verbatim(csvOf(text, type.essence))
    return verbatim(text)
  }
  const ignored = ignoredBy(kind, job)
  const reading = read()
  return { ...reading, warnings: [...reading.warnings, ...ignored], charset, page_count: null }
}

function ignoredBy(kind: string, { selector }: BodyJob): string[] {
  return selector !== undefined && kind !== 'html'
    ? ['The selector was not used: this is not an HTML page.']
    : []
}
