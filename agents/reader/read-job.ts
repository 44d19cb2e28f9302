import { readBody } from './body/body.ts'
import { digest } from './cursor.ts'
import { extractPage } from './html-to-markdown/extract-page.ts'
import type { Extracted, ReaderJob } from './port.ts'

/** Reads a body of any type. Throws Failure `upstream_invalid` for a body that is not text. */
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

/** The URL of a Markdown link, which does not count as words. */
const destination = /(?<=\])\([^()\s]*\)/g
const word = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu
