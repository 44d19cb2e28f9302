import { Readability } from '@mozilla/readability'
import type { Root } from 'hast'
import { parseHTML } from 'linkedom'
import { cleaned } from './cleaned.ts'
import { textOf } from './hast.ts'
import { parse } from './parse.ts'
import type { Filtered } from './prefilter.ts'

type Text = string | null | undefined

/** What a page says of the article that it holds. */
export interface Article {
  readonly title?: Text
  readonly byline?: Text
  readonly siteName?: Text
  readonly publishedTime?: Text
  readonly lang?: Text
  readonly excerpt?: Text
}

export interface MainContent {
  readonly root: Root
  readonly extractor: 'readability' | 'cleaned'
  /** Characters of the longest candidate, blanks left out. */
  readonly length: number
  readonly about: Article
}

/**
 * Readability is believed where it keeps at least this share of the cleaned page's text. What calls itself
 * an article is one, however much stands around it; forums, products and front pages are what it cuts short.
 */
const enough = { of_article: 0.05, of_other: 0.4 }

/** What of a page is its content: the article alone, or the page without its furniture. */
export function mainContent(page: Filtered): MainContent {
  const clean = cleaned(parse(page.body))
  const article = readArticle(page)
  const cleanLength = lengthOf(textOf(clean))
  const articleLength = lengthOf(article?.textContent ?? '')
  const share = page.head.is_article ? enough.of_article : enough.of_other
  const isArticle = articleLength > 0 && articleLength >= share * cleanLength
  return {
    root: isArticle ? parse(article?.content ?? '') : clean,
    extractor: isArticle ? 'readability' : 'cleaned',
    length: Math.max(cleanLength, articleLength),
    about: article ?? {},
  }
}

function readArticle(page: Filtered) {
  const title = (page.head.title ?? '').replaceAll('<', '&lt;')
  const lang = (page.head.language ?? '').replaceAll('"', '&quot;')
  const head = `<head><title>${title}</title>${page.head.html}</head>`
  const { document } = parseHTML(
    `<!doctype html><html lang="${lang}">${head}<body>${page.body}</body></html>`,
  )
  return new Readability(document, { keepClasses: true }).parse()
}

function lengthOf(text: string): number {
  return text.replace(/\s+/g, '').length
}
