import { isBoundedLinkedData } from './linked-data.ts'
import type { OpenTag } from './tokenizer.ts'

/** Metadata of a page, from any position in the page. */
export interface Head {
  readonly title: string | null
  readonly base: string | null
  readonly language: string | null
  /** The first content of each `<meta>` by its property, name or itemprop in lower case; character references are not decoded. */
  readonly metadata: ReadonlyMap<string, string>
  /** JSON-LD within the bounds of `isBoundedLinkedData`, not parsed. */
  readonly linked_data: readonly string[]
  readonly scripts: number
  readonly asks_password: boolean
  readonly asks_for_script: boolean
}

const max = { metadata: 200, linked_data: 50, content: 2048 }
const maxTitleLength = 1000

export function createHead() {
  const metadata = new Map<string, string>()
  const linked_data: string[] = []
  let title: string | null = null
  let base: string | null = null
  let language: string | null = null
  let scripts = 0
  let asks_password = false
  let asks_for_script = false

  function start({ name, attributes }: OpenTag): void {
    if (name === 'html') language ??= attributes.get('lang')?.slice(0, 40) ?? null
    if (name === 'base') base ??= attributes.get('href')?.slice(0, 2048) ?? null
    if (name === 'input' && attributes.get('type')?.toLowerCase() === 'password') asks_password = true
    const content = attributes.get('content')?.trim()
    if (name !== 'meta' || !content || content.length > max.content || metadata.size >= max.metadata) return
    for (const kind of ['property', 'name', 'itemprop']) {
      const key = attributes.get(kind)?.trim().toLowerCase().slice(0, 100)
      if (key && !metadata.has(key)) metadata.set(key, content)
    }
  }

  /** Takes the text of a raw text element, such as `<title>` and `<script>`. */
  function raw({ name, attributes }: OpenTag, text: string): void {
    if (name === 'title') title ??= text.slice(0, maxTitleLength)
    if (name !== 'script') return
    scripts++
    if (!/^\s*application\/ld\+json/i.test(attributes.get('type') ?? '')) return
    if (linked_data.length < max.linked_data && isBoundedLinkedData(text)) linked_data.push(text)
  }

  /** Takes text inside `<noscript>`. */
  function noscriptText(text: string): void {
    if (/javascript/i.test(text.slice(0, 5000))) asks_for_script = true
  }

  const finish = (): Head => ({
    title,
    base,
    language,
    metadata,
    linked_data,
    scripts,
    asks_password,
    asks_for_script,
  })
  return { start, raw, noscriptText, finish }
}
