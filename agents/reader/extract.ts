import { decoded } from './html/about.ts'
import { mainContent } from './html/content.ts'
import { toMarkdown } from './html/markdown.ts'
import { type Filtered, prefilter } from './html/prefilter.ts'
import { toText } from './html/text.ts'
import { tidy } from './html/tidy.ts'
import type { Extracted, ExtractJob } from './port.ts'

/** Reads a page: its main content and what it says of itself. Pure, and bounded by the caps of the pre-filter. */
export function extract({ html, url, format }: ExtractJob): Extracted {
  const page = prefilter(html)
  const { root: found, extractor, confidence, length, about } = mainContent(page)
  const { stated: _stated, ...said } = about
  const root = tidy(found, baseOf(page, url))
  const content = format === 'text' ? toText(root) : toMarkdown(root)
  return {
    ...said,
    content: content.replace(invisible, ''),
    extractor,
    confidence,
    empty_reason: emptyReason(page, length),
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

function baseOf(page: Filtered, url: string): string {
  const base = decoded(page.head.base) ?? ''
  return URL.canParse(base, url) ? new URL(base, url).href : url
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
