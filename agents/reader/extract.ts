import type { Root } from 'hast'
import { cleaned } from './html/cleaned.ts'
import { type Article, mainContent } from './html/content.ts'
import { unpackEmbedded } from './html/embedded.ts'
import { textOf } from './html/hast.ts'
import { toMarkdown } from './html/markdown.ts'
import { parse } from './html/parse.ts'
import { type Filtered, prefilter } from './html/prefilter.ts'
import { parseSelector, select } from './html/selector.ts'
import { toText } from './html/text.ts'
import { tidy } from './html/tidy.ts'
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
  const { root: found, extractor } = chosen(page, main, job)
  const root = tidy(found, baseOf(page, job.url), job)
  const content = job.format === 'text' ? toText(root) : toMarkdown(root)
  const about = described(page, main.about)
  const isNoMatch = extractor === 'selector' && found.children.length === 0
  const is_sold = sold.test(page.head.html)
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
    empty_reason: isNoMatch ? 'no_match' : empty_reason,
    warnings: warningsOf(page, is_sold && empty_reason !== 'paywall'),
  }
}

type Main = ReturnType<typeof mainContent>

function chosen(
  page: Filtered,
  main: Main,
  { selector, mode }: PageJob,
): Pick<Extracted, 'extractor'> & { root: Root } {
  if (selector !== undefined) {
    const children = select(parse(page.body), parseSelector(selector).selector)
    return { root: { type: 'root', children }, extractor: 'selector' }
  }
  return mode === 'full' ? { root: cleaned(parse(page.body)), extractor: 'cleaned' } : main
}

const sold = /"isAccessibleForFree"\s{0,9}:\s{0,9}"?false/i

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

function described({ head }: Filtered, about: Article) {
  return {
    title: known(about.title) ?? known(decode(head.title)),
    byline: known(about.byline),
    site_name: known(about.siteName),
    published: known(about.publishedTime),
    language: known(about.lang) ?? known(head.language),
    excerpt: known(about.excerpt),
  }
}

function baseOf(page: Filtered, url: string): string {
  const base = decode(page.head.base) ?? ''
  return URL.canParse(base, url) ? new URL(base, url).href : url
}

/** The text that character references in a piece of HTML stand for. */
function decode(html: string | null): string | null {
  return html === null ? null : textOf(parse(html.replaceAll('<', '&lt;')))
}

function known(text: string | null | undefined): string | null {
  return text?.replace(/\s+/g, ' ').trim().slice(0, 1000) || null
}
