import { readBody } from './body/body.ts'
import { digest } from './cursor.ts'
import { extractPage } from './html-to-markdown/extract-page.ts'
import type { Extracted, ReaderJob } from './port.ts'

/** Reads whatever is to be read. Throws Failure `upstream_invalid` for what is no text, and `invalid_request` (the selector). */
export async function readJob(job: ReaderJob): Promise<Extracted> {
  const reading =
    'html' in job ? { ...extractPage(job), charset: null, page_count: null } : await readBody(job)
  const { content } = reading
  return {
    ...reading,
    word_count: content.replace(destination, '').match(word)?.length ?? 0,
    digest: digest(content),
  }
}

/** Of a link in Markdown: an address is no words. */
const destination = /(?<=\])\([^()\s]*\)/g
const word = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu
