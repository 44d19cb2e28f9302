import type { Root } from 'hast'
import { decoded } from './html-to-markdown/html/about.ts'
import { type MainContent, mainContent, wholeContent } from './html-to-markdown/html/content.ts'
import { unpackEmbedded } from './html-to-markdown/html/embedded.ts'
import { textOf } from './html-to-markdown/html/hast.ts'
import { thingsIn } from './html-to-markdown/html/linked-data.ts'
import { toMarkdown } from './html-to-markdown/html/markdown.ts'
import { parse } from './html-to-markdown/html/parse.ts'
import { type Filtered, prefilter } from './html-to-markdown/html/prefilter.ts'
import { parseSelector, select } from './html-to-markdown/html/selector.ts'
import { toText } from './html-to-markdown/html/text.ts'
import { tidy } from './html-to-markdown/html/tidy.ts'
import type { Extracted, PageJob } from './port.ts'
import { emptyReason } from './reasons.ts'

export type Reading = Omit<Extracted, 'word_count' | 'digest' | 'charset' | 'page_count'>

/**
 * Reads a page: what of it is asked for and what it says of itself. Pure, and bounded by the caps of the pre-filter.
 * Throws Failure `invalid_request` for a selector that cannot be read.
 */
export function extract(job: PageJob): Reading {
  const page = prefilter(unpackEmbedded(job.html))
  const main = mainContent(page)
  const { root: found, extractor, confidence } = chosen(page, main, job)
  const root = tidy(found, baseOf(page, job.url), job)
  const content = job.format === 'text' ? toText(root) : toMarkdown(root)
  const { stated: _stated, is_article: _isArticle, ...about } = main.about
  const isNoMatch = extractor === 'selector' && found.children.length === 0
  const is_sold = isSold(page)
  const empty_reason = emptyReason({
    ...page.head,
    length: main.length,
    title: about.title ?? '',
    text: textOf(main.root),
    is_sold,
  })
  return {
    ...about,
    content: content.replace(invisible, ''),
    extractor,
    confidence,
    empty_reason: isNoMatch ? 'no_match' : empty_reason,
    warnings: warningsOf(page, is_sold && empty_reason !== 'paywall'),
  }
}

function chosen(
  page: Filtered,
  main: MainContent,
  { selector, mode }: PageJob,
): Pick<Extracted, 'extractor' | 'confidence'> & { root: Root } {
  if (selector !== undefined) {
    const children = select(parse(page.body), parseSelector(selector).selector)
    return { root: { type: 'root', children }, extractor: 'selector', confidence: null }
  }
  return mode === 'full' ? { root: wholeContent(page), extractor: 'whole', confidence: null } : main
}

/** schema.org `isAccessibleForFree`, which is written as a word too. */
function isSold({ head }: Filtered): boolean {
  return thingsIn(head.linked_data).some(({ isAccessibleForFree }) =>
    /^false$/i.test(`${isAccessibleForFree}`),
  )
}

function warningsOf({ cut, is_revealed }: Filtered, isSold: boolean): string[] {
  return [
    ...(cut === null ? [] : [`The page was cut short: it has too many ${cut}.`]),
    ...(is_revealed
      ? ['The page shows most of its text by script; what it hides until then is included.']
      : []),
    ...(isSold ? ['The page says that it is not free to read: this may not be all of it.'] : []),
  ]
}

/** Unicode tag characters: never shown, and a known carrier of hidden instructions. */
const invisible = /[\u{E0000}-\u{E007F}]/gu

function baseOf(page: Filtered, url: string): string {
  const base = decoded(page.head.base) ?? ''
  return URL.canParse(base, url) ? new URL(base, url).href : url
}
