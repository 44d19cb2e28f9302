import { isTameLinkedData } from './linked-data.ts'
import type { OpenTag } from './tokenizer.ts'

/** What a page says about itself rather than to its reader, wherever in the page it stands. */
export interface Head {
  readonly title: string | null
  readonly base: string | null
  readonly language: string | null
  /** The first content of each `<meta>` by its property, name or itemprop in lower case; character references stand. */
  readonly metadata: ReadonlyMap<string, string>
  /** JSON-LD, tame but not parsed. */
  readonly linked_data: readonly string[]
  readonly scripts: number
  readonly asks_password: boolean
  readonly asks_for_script: boolean
}

const most = { metadata: 200, linked_data: 50, content: 2048 }
const longestTitle = 1000

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
    if (name !== 'meta' || !content || content.length > most.content || metadata.size >= most.metadata) return
    for (const kind of ['property', 'name', 'itemprop']) {
      const key = attributes.get(kind)?.trim().toLowerCase().slice(0, 100)
      if (key && !metadata.has(key)) metadata.set(key, content)
    }
  }

  /** Takes the text of a raw text element, such as `<title>` and `<script>`. */
  function raw({ name, attributes }: OpenTag, text: string): void {
    if (name === 'title') title ??= text.slice(0, longestTitle)
    if (name !== 'script') return
    scripts++
    if (!/^\s*application\/ld\+json/i.test(attributes.get('type') ?? '')) return
    if (linked_data.length < most.linked_data && isTameLinkedData(text)) linked_data.push(text)
  }

  /** Takes text that is shown where no script runs. */
  function insteadOfScript(text: string): void {
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
  return { start, raw, insteadOfScript, finish }
}
