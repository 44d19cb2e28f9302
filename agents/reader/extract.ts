import { Readability } from '@mozilla/readability'
import type { Root } from 'hast'
import { parseHTML } from 'linkedom'
import rehypeParse from 'rehype-parse'
import { unified } from 'unified'
import { cleaned } from './html/cleaned.ts'
import { textOf } from './html/hast.ts'
import { toMarkdown } from './html/markdown.ts'
import { type Filtered, prefilter } from './html/prefilter.ts'
import { toText } from './html/text.ts'
import { tidy } from './html/tidy.ts'
import type { Extracted, ExtractJob } from './port.ts'

/**
 * Readability is believed where it keeps at least this share of the cleaned page's text. What calls itself
 * an article is one, however much stands around it; forums, products and front pages are what it cuts short.
 */
const enough = { of_article: 0.05, of_other: 0.4 }

/** Reads a page: its main content and what it says of itself. Pure, and bounded by the caps of the pre-filter. */
export function extract({ html, url, format }: ExtractJob): Extracted {
  const page = prefilter(html)
  const body = parse(page.body)
  const article = readArticle(page)
  const clean = cleaned(body)
  const cleanLength = lengthOf(textOf(clean))
  const articleLength = lengthOf(article?.textContent ?? '')
  const share = page.head.is_article ? enough.of_article : enough.of_other
  const isArticle = articleLength > 0 && articleLength >= share * cleanLength
  const root = tidy(isArticle ? parse(article?.content ?? '') : clean, baseOf(page, url))
  const content = format === 'text' ? toText(root) : toMarkdown(root)
  return {
    title: known(article?.title) ?? known(decode(page.head.title)),
    byline: known(article?.byline),
    site_name: known(article?.siteName),
    published: known(article?.publishedTime),
    language: known(article?.lang) ?? known(page.head.language),
    excerpt: known(article?.excerpt),
    content: content.replace(invisible, ''),
    extractor: isArticle ? 'readability' : 'cleaned',
    empty_reason: emptyReason(page, Math.max(cleanLength, articleLength)),
    warnings: warningsOf(page),
  }
}

function warningsOf({ cut, is_revealed }: Filtered): string[] {
  return [
    ...(cut === null ? [] : [`The page was cut short: it has too many ${cut}.`]),
    ...(is_revealed
      ? ['The page shows most of its text by script; what it hides until then is included.']
      : []),
  ]
}

/** Unicode tag characters: never shown, and a known carrier of hidden instructions. */
const invisible = /[\u{E0000}-\u{E007F}]/gu

function readArticle(page: Filtered) {
  const title = (page.head.title ?? '').replaceAll('<', '&lt;')
  const lang = (page.head.language ?? '').replaceAll('"', '&quot;')
  const head = `<head><title>${title}</title>${page.head.html}</head>`
  const { document } = parseHTML(
    `<!doctype html><html lang="${lang}">${head}<body>${page.body}</body></html>`,
  )
  return new Readability(document, { keepClasses: true }).parse()
}

function parse(html: string): Root {
  return unified().use(rehypeParse, { fragment: true }).parse(html)
}

function baseOf(page: Filtered, url: string): string {
  const base = decode(page.head.base) ?? ''
  return URL.canParse(base, url) ? new URL(base, url).href : url
}

/** The text that character references in a piece of HTML stand for. */
function decode(html: string | null): string | null {
  return html === null ? null : textOf(parse(html.replaceAll('<', '&lt;')))
}

function lengthOf(text: string): number {
  return text.replace(/\s+/g, '').length
}

function known(text: string | null | undefined): string | null {
  return text?.replace(/\s+/g, ' ').trim().slice(0, 1000) || null
}

/** Below these many characters a page says next to nothing. */
const few = { beside_script: 200, beside_login: 500 }

function emptyReason(page: Filtered, length: number): string | null {
  if (page.head.asks_password && length < few.beside_login) return 'login_wall'
  if (
    page.head.scripts > 0 &&
    length < few.beside_script &&
    (page.head.asks_for_script || length < few.beside_script / 4)
  ) {
    return 'js_only_page'
  }
  return length === 0 ? 'no_text' : null
}
