import type { ElementContent, Root } from 'hast'
import type { ReadingOptions } from '../html-to-markdown/extract-page.ts'
import { element, textOf } from '../html-to-markdown/html/hast.ts'
import { toMarkdown } from '../html-to-markdown/html/markdown.ts'
import { parse } from '../html-to-markdown/html/parse.ts'
import { prefilter } from '../html-to-markdown/html/prefilter.ts'
import { toText } from '../html-to-markdown/html/text.ts'
import { tidy } from '../html-to-markdown/html/tidy.ts'
import { tokenize } from '../html-to-markdown/html/tokenizer.ts'
import type { Reading } from '../port.ts'
import { noMetadata } from './verbatim.ts'

interface Entry {
  title: string
  link: string
  date: string
  summary: string
}

const max = { entries: 100, summary: 500 }

/** A feed (RSS or Atom, RFC 4287) as a list of its entries; undefined if it has none. */
export function readFeed(
  xml: string,
  manner: ReadingOptions & { readonly url: string },
): Reading | undefined {
  const { title, entries, isCut } = entriesOf(withoutSections(xml))
  if (entries.length === 0) return undefined
  const list = element('ul', entries.map(itemOf))
  const root = tidy({ type: 'root', children: [list] } satisfies Root, manner.url, manner)
  return {
    ...noMetadata,
    title: plain(title) || null,
    content: manner.format === 'text' ? toText(root) : toMarkdown(root),
    extractor: 'feed',
    empty_reason: null,
    warnings: isCut ? [`Only the first ${max.entries} entries are included.`] : [],
  }
}

function itemOf({ title, link, date, summary }: Entry): ElementContent {
  const name: ElementContent = { type: 'text', value: plain(title) || link || 'Untitled' }
  const head = link ? element('a', [name], { href: link }) : name
  const when: ElementContent[] = date ? [{ type: 'text', value: ` (${date})` }] : []
  const text = plain(summary)
  const cut = text.length > max.summary ? `${text.slice(0, max.summary).toWellFormed()}…` : text
  const body = cut ? [element('p', [{ type: 'text', value: cut }])] : []
  return element('li', [element('p', [head, ...when]), ...body])
}

/** Fields of an entry by element name. */
const fields = new Map<string, keyof Entry>([
  ['title', 'title'],
  ['link', 'link'],
  ['pubdate', 'date'],
  ['published', 'date'],
  ['updated', 'date'],
  ['dc:date', 'date'],
  ['description', 'summary'],
  ['summary', 'summary'],
  ['content', 'summary'],
  ['content:encoded', 'summary'],
])

function entriesOf(xml: string): { title: string; entries: Entry[]; isCut: boolean } {
  const entries: Entry[] = []
  let title = ''
  let entry: Entry | undefined
  let field = ''
  let text = ''
  for (const token of tokenize(xml)) {
    if (token.type === 'text') {
      text += field === '' ? '' : token.value
      continue
    }
    if (token.type === 'open' && (token.name === 'item' || token.name === 'entry')) {
      if (entries.length === max.entries) return { title, entries, isCut: true }
      entry = { title: '', link: '', date: '', summary: '' }
      entries.push(entry)
      field = ''
    } else if (token.type === 'open' && field === '' && fields.has(token.name)) {
      field = token.closed ? '' : token.name
      text = ''
      const href = token.attributes.get('href')
      const rel = token.attributes.get('rel') ?? 'alternate'
      if (entry && token.name === 'link' && href && rel === 'alternate') entry.link ||= references(href)
    } else if (token.type === 'close' && token.name === field) {
      const key = fields.get(field)
      if (entry && key) entry[key] ||= references(text.trim())
      else if (key === 'title') title ||= references(text.trim())
      field = ''
    }
  }
  return { title, entries, isCut: false }
}

/** CDATA sections as escaped text (XML 1.0, 2.7). */
function withoutSections(xml: string): string {
  const [first = '', ...rest] = xml.split('<![CDATA[')
  const parts = rest.map((part) => {
    const end = part.indexOf(']]>')
    const text = end === -1 ? part : part.slice(0, end)
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;') + (end === -1 ? '' : part.slice(end + 3))
  })
  return first + parts.join('')
}

/** Decodes the character references of a text. */
function references(text: string): string {
  return textOf(parse(text.slice(0, 20_000).replaceAll('<', '&lt;')))
}

/** The text of a piece of HTML. */
function plain(html: string): string {
  return textOf(parse(prefilter(html).body))
    .replace(/\s+/g, ' ')
    .trim()
}
