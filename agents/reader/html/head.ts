import { writeAttributes } from './attributes.ts'
import { isTameLinkedData } from './linked-data.ts'
import type { OpenTag } from './tokenizer.ts'

/** What a page says about itself rather than to its reader, wherever in the page it stands. */
export interface Head {
  readonly title: string | null
  readonly base: string | null
  readonly language: string | null
  /** Metadata and JSON-LD, written out as HTML. */
  readonly html: string
  readonly scripts: number
  /** It calls itself an article, in Open Graph or JSON-LD. */
  readonly is_article: boolean
  readonly asks_password: boolean
  readonly asks_for_script: boolean
}

const mostPieces = 200
const longestTitle = 1000
const articleType = /"@type"\s{0,9}:\s{0,9}"(?:\w{0,40}Article|BlogPosting)"/

export function createHead() {
  const pieces: string[] = []
  let title: string | null = null
  let base: string | null = null
  let language: string | null = null
  let scripts = 0
  let is_article = false
  let asks_password = false
  let asks_for_script = false

  function start({ name, attributes }: OpenTag): void {
    if (name === 'html') language ??= attributes.get('lang')?.slice(0, 40) ?? null
    if (name === 'base') base ??= attributes.get('href')?.slice(0, 2048) ?? null
    if (name === 'input' && attributes.get('type')?.toLowerCase() === 'password') asks_password = true
    if (name !== 'meta' || !attributes.has('content') || pieces.length >= mostPieces) return
    if (attributes.get('property') === 'og:type')
      is_article ||= /^article/i.test(attributes.get('content') ?? '')
    pieces.push(`<meta${writeAttributes(name, attributes)}>`)
  }

  /** Takes the text of a raw text element, such as `<title>` and `<script>`. */
  function raw({ name, attributes }: OpenTag, text: string): void {
    if (name === 'title') title ??= text.slice(0, longestTitle)
    if (name !== 'script') return
    scripts++
    if (!/^\s*application\/ld\+json/i.test(attributes.get('type') ?? '')) return
    if (pieces.length >= mostPieces || !isTameLinkedData(text)) return
    is_article ||= articleType.test(text)
    pieces.push(`<script type="application/ld+json">${text.replaceAll('<', '\\u003c')}</script>`)
  }

  /** Takes text that is shown where no script runs. */
  function insteadOfScript(text: string): void {
    if (/javascript/i.test(text.slice(0, 5000))) asks_for_script = true
  }

  const finish = (): Head => ({
    title,
    base,
    language,
    html: pieces.join('\n'),
    scripts,
    is_article,
    asks_password,
    asks_for_script,
  })
  return { start, raw, insteadOfScript, finish }
}
