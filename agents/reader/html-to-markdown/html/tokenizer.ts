/** One tag or text. Text and attribute values are as written: character references are not decoded. */
type Token =
  | OpenTag
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'close'; readonly name: string }

export interface OpenTag {
  readonly type: 'open'
  readonly name: string
  readonly attributes: TagAttributes
  /** True for a tag written as `<name/>`. */
  readonly closed: boolean
}

export type TagAttributes = ReadonlyMap<string, string>

/** Elements whose content is text up to their own end tag (HTML Standard, 13.2.5). */
const rawText: ReadonlySet<string> = new Set([
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
])

/** True if the text after the start tag, up to its end tag, contains no markup. */
export function isRaw(name: string): boolean {
  return rawText.has(name)
}

const markup = /<[a-zA-Z/!?]/g
const tagName = /[^\s/>]*/y
const gap = /[\s/]*/y
const attributeName = /[^\s/>=][^\s/>=]*|=[^\s/>=]*/y
const equals = /\s*=\s*/y
const bareValue = /[^\s>]*/y

/** Maximum number of attributes that are read from one element. */
const maxAttributes = 40

/**
 * Splits HTML into tags and text, in time linear in its length for any input: every step advances and no part is
 * searched twice. Comments, doctypes and processing instructions are left out.
 */
export function* tokenize(html: string): Generator<Token> {
  let position = 0
  while (position < html.length) {
    const start = search(markup, html, position)
    if (start === -1) {
      yield { type: 'text', value: html.slice(position) }
      return
    }
    if (start > position) yield { type: 'text', value: html.slice(position, start) }
    const kind = html[start + 1]
    if (kind === '!' || kind === '?') {
      position = afterComment(html, start)
    } else if (kind === '/') {
      const name = match(tagName, html, start + 2)
      position = after(html, '>', start + 2 + name.length)
      if (name) yield { type: 'close', name: name.toLowerCase() }
    } else {
      const tag = readTag(html, start + 1)
      position = tag.end
      if (tag.end > html.length) return
      yield { type: 'open', name: tag.name, attributes: tag.attributes, closed: tag.closed }
      if (tag.closed || !isRaw(tag.name)) continue
      const end = endOfRawText(html, tag.name, position)
      yield { type: 'text', value: html.slice(position, end) }
      position = end
    }
  }
}

interface Tag {
  readonly name: string
  readonly attributes: TagAttributes
  readonly closed: boolean
  /** Greater than the length of the text if the tag is never closed. */
  readonly end: number
}

function readTag(html: string, start: number): Tag {
  const name = match(tagName, html, start)
  const attributes = new Map<string, string>()
  let position = start + name.length
  while (position < html.length) {
    const space = match(gap, html, position)
    position += space.length
    if (html[position] === '>') {
      return { name: name.toLowerCase(), attributes, closed: space.endsWith('/'), end: position + 1 }
    }
    const attribute = match(attributeName, html, position)
    position += attribute.length
    const sign = match(equals, html, position)
    position += sign.length
    const quote = sign ? html[position] : undefined
    let value = ''
    if (quote === '"' || quote === "'") {
      const end = after(html, quote, position + 1)
      value = html.slice(position + 1, end - 1)
      position = end
    } else if (sign) {
      value = match(bareValue, html, position)
      position += value.length
    }
    const key = attribute.slice(0, 40).toLowerCase()
    if (key && attributes.size < maxAttributes && !attributes.has(key)) attributes.set(key, value)
  }
  return { name, attributes, closed: false, end: html.length + 1 }
}

function afterComment(html: string, start: number): number {
  if (!html.startsWith('<!--', start)) return after(html, '>', start)
  if (html.startsWith('>', start + 4)) return start + 5
  return after(html, '-->', start + 4)
}

function endOfRawText(html: string, name: string, from: number): number {
  const end = search(new RegExp(`</${name}[\\s/>]`, 'gi'), html, from)
  return end === -1 ? html.length : end
}

function after(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from)
  return at === -1 ? html.length + 1 : at + text.length
}

function search(pattern: RegExp, html: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(html)?.index ?? -1
}

function match(pattern: RegExp, html: string, from: number): string {
  pattern.lastIndex = from
  return pattern.exec(html)?.[0] ?? ''
}
