import type { Root } from 'hast'
import { type EmptyReason, emptyReason } from './empty-reason.ts'
import { decoded } from './html/about.ts'
import { type MainContent, mainContent, wholeContent } from './html/content.ts'
import { unpackEmbedded } from './html/embedded.ts'
import { textOf } from './html/hast.ts'
import { thingsIn } from './html/linked-data.ts'
import { toMarkdown } from './html/markdown.ts'
import { parse } from './html/parse.ts'
import { type Filtered, prefilter } from './html/prefilter.ts'
import { parseSelector, select } from './html/selector.ts'
import { toText } from './html/text.ts'
import { type TidyOptions, tidy } from './html/tidy.ts'

export type Format = 'markdown' | 'text'

/** The format of the output, and which part of the page to read. */
export interface ReadingOptions extends TidyOptions {
  readonly format: Format
  /** CSS selector of the part to read instead of the main content; see html/selector.ts. */
  readonly selector?: string | undefined
  /** `main` when absent; `full` is the whole page without its boilerplate. */
  readonly mode?: 'main' | 'full'
}

/** A page to read: its HTML as text and its URL. */
export interface HtmlPage extends ReadingOptions {
  readonly html: string
  readonly url: string
}

/** Content and metadata of a page; null for metadata that the page does not state. */
export interface PageContent {
  readonly title: string | null
  readonly byline: string | null
  readonly site_name: string | null
  readonly published: string | null
  readonly language: string | null
  readonly excerpt: string | null
  /** In the requested format. */
  readonly content: string
  /** How the content was found: blocks that the model chose, the whole page, or the elements of a selector. */
  readonly extractor: 'blocks' | 'whole' | 'selector'
  /** Expected F1 of the chosen blocks, from 0 to 1; null for the other extractors. */
  readonly confidence: number | null
  /** The reason why there is next to no content; null if there is enough. */
  readonly empty_reason: EmptyReason | null
  readonly warnings: readonly string[]
}

/**
 * Converts a page to Markdown or text and reads its metadata. Pure, and bounded by the caps of the pre-filter. An
 * invalid selector matches nothing: check it with `parseSelector` first.
 */
export function extractPage(page: HtmlPage): PageContent {
  const filtered = prefilter(unpackEmbedded(page.html))
  const main = mainContent(filtered)
  const { root: chosenRoot, extractor, confidence } = choose(filtered, main, page)
  const root = tidy(chosenRoot, baseOf(filtered, page.url), page)
  const content = page.format === 'text' ? toText(root) : toMarkdown(root)
  const { stated: _stated, is_article: _isArticle, ...metadata } = main.about
  const isNoMatch = extractor === 'selector' && chosenRoot.children.length === 0
  const is_sold = isSold(filtered)
  const empty_reason = emptyReason({
    ...filtered.head,
    length: main.length,
    title: metadata.title ?? '',
    text: textOf(main.root),
    is_sold,
  })
  return {
    ...metadata,
    content: content.replace(invisible, ''),
    extractor,
    confidence,
    empty_reason: isNoMatch ? 'no_match' : empty_reason,
    warnings: warningsOf(filtered, is_sold && empty_reason !== 'paywall'),
  }
}

function choose(
  page: Filtered,
  main: MainContent,
  { selector, mode }: ReadingOptions,
): Pick<PageContent, 'extractor' | 'confidence'> & { root: Root } {
  if (selector !== undefined) {
    const children = select(parse(page.body), parseSelector(selector).selector)
    return { root: { type: 'root', children }, extractor: 'selector', confidence: null }
  }
  return mode === 'full' ? { root: wholeContent(page), extractor: 'whole', confidence: null } : main
}

/** schema.org `isAccessibleForFree`, a boolean or the word `false`. */
function isSold({ head }: Filtered): boolean {
  return thingsIn(head.linked_data).some(({ isAccessibleForFree }) =>
    /^false$/i.test(`${isAccessibleForFree}`),
  )
}

function warningsOf({ cut, is_revealed }: Filtered, isSold: boolean): string[] {
  return [
    ...(cut === null ? [] : [`The page was truncated: it has too many ${cut}.`]),
    ...(is_revealed
      ? ['The page hides most of its text until its script runs; the hidden text is included.']
      : []),
    ...(isSold ? ['The page states that it is not free to read: the content may be incomplete.'] : []),
  ]
}

/** Unicode tag characters: never shown, and a known carrier of hidden instructions. */
const invisible = /[\u{E0000}-\u{E007F}]/gu

function baseOf(page: Filtered, url: string): string {
  const base = decoded(page.head.base) ?? ''
  return URL.canParse(base, url) ? new URL(base, url).href : url
}
