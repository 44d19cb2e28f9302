import type { Nodes, RootContent, Table } from 'mdast'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { type Html, html } from '../html.ts'
import { colouredJson, copyable } from './parts.ts'

/** A Markdown text as HTML, and what navigation and search need of it. */
export interface Rendered {
  readonly title: string
  readonly body: Html
  readonly headings: readonly Heading[]
  /** The text below each heading; what stands before the first one belongs to the title. */
  readonly sections: readonly Section[]
}

interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

interface Section {
  readonly id: string
  readonly heading: string
  readonly text: string
}

interface MarkdownOptions {
  /** The address of a link; undefined for a link that leads nowhere from here. */
  readonly linkTo: (address: string) => string | undefined
  /** The address and the size of a picture; undefined for a picture that is not shown. */
  readonly pictureAt?: (address: string) => Picture | undefined
  /**
   * A text of somebody else, within a page of ours: HTML is left out, headings are below ours and no targets, links say
   * that they are not ours, and what is nested deeply or comes after many elements is left out.
   */
  readonly isForeign?: boolean
}

export interface Picture {
  readonly path: string
  readonly width: number
  readonly height: number
}

const parser = unified().use(remarkParse).use(remarkGfm)

/**
 * Renders Markdown. Only the elements below are written, each with attributes of its own, and each text is escaped: HTML
 * in the text is shown as text, but for line breaks.
 */
export function renderMarkdown(text: string, options: MarkdownOptions): Rendered {
  const root = parser.parse(text)
  const definitions = root.children.filter((node) => node.type === 'definition')
  const page = new Writer(options, new Map(definitions.map(({ identifier, url }) => [identifier, url])))
  const body = page.all(root.children)
  return {
    title: page.headings.find(({ level }) => level === 1)?.text ?? '',
    body,
    headings: page.headings,
    sections: sectionsOf(root.children, page.headings),
  }
}

/** Bounds of a foreign text. */
const maxDepth = 12
const maxElements = 2_000

class Writer {
  readonly #options: MarkdownOptions
  /** The addresses of links by reference. */
  readonly #definitions: ReadonlyMap<string, string>
  readonly headings: Heading[] = []
  readonly #ids = new Map<string, number>()
  #blocks = 0
  #level = 2
  #depth = 0
  #elements = 0

  constructor(options: MarkdownOptions, definitions: ReadonlyMap<string, string>) {
    this.#options = options
    this.#definitions = definitions
  }

  all(nodes: readonly Nodes[]): Html {
    this.#elements += nodes.length
    const isTooMuch = this.#depth >= maxDepth || this.#elements > maxElements
    if (this.#options.isForeign && isTooMuch) return html`…`
    this.#depth++
    const written = nodes.map((node) => this.#node(node))
    this.#depth--
    return html`${written}`
  }

  #node(node: Nodes): Html {
    switch (node.type) {
      case 'text':
        return html`${node.value}`
      case 'paragraph': {
        const content = this.all(node.children)
        return content.html.trim() === '' ? html`` : html`<p>${content}</p>\n`
      }
      case 'heading':
        return this.#heading(node.depth, node.children)
      case 'emphasis':
        return html`<em>${this.all(node.children)}</em>`
      case 'strong':
        return html`<strong>${this.all(node.children)}</strong>`
      case 'delete':
        return html`<del>${this.all(node.children)}</del>`
      case 'inlineCode':
        return html`<code>${node.value}</code>`
      case 'code':
        return this.#block(node.value, node.lang ?? '')
      case 'link':
        return this.#link(node.url, this.all(node.children))
      case 'linkReference':
        return this.#link(this.#definitions.get(node.identifier) ?? '', this.all(node.children))
      case 'image':
        return this.#picture(node.url, node.alt ?? '')
      case 'list': {
        const items = node.children.map((item) => html`<li>${this.#item(item.children)}</li>\n`)
        if (!node.ordered) return html`<ul>\n${items}</ul>\n`
        const start = node.start ?? 1
        return html`<ol${start !== 1 && html` start="${start}"`}>\n${items}</ol>\n`
      }
      case 'blockquote':
        return html`<blockquote>${this.all(node.children)}</blockquote>\n`
      case 'table':
        return this.#table(node)
      case 'thematicBreak':
        return html`<hr>\n`
      case 'break':
        return html`<br>`
      case 'html':
        if (isBreak(node)) return html`<br>`
        return this.#options.isForeign ? html`` : html`${node.value}`
      default:
        return html``
    }
  }

  #heading(level: number, children: readonly Nodes[]): Html {
    if (this.#options.isForeign) {
      // No level is left out, whatever the text begins with.
      this.#level = Math.min(6, level + 2, this.#level + 1)
      const tag = { html: `h${this.#level}` }
      return html`<${tag}>${this.all(children)}</${tag}>\n`
    }
    const text = textOf(children)
    const id = this.#idOf(text)
    this.headings.push({ level, id, text })
    const tag = { html: `h${level}` }
    const inner = this.all(children)
    if (level === 1) return html`<${tag} id="${id}">${inner}</${tag}>\n`
    return html`<${tag} id="${id}"><a href="#${id}">${hasLink(children) ? text : inner}</a></${tag}>\n`
  }

  /** The ids that GitHub gives, so that links between documents work in both. */
  #idOf(text: string): string {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    const before = this.#ids.get(slug)
    this.#ids.set(slug, (before ?? -1) + 1)
    return before === undefined ? slug : `${slug}-${before + 1}`
  }

  #block(text: string, language: string): Html {
    this.#blocks += 1
    const id = `${this.#options.isForeign ? 'readme' : 'code'}-${this.#blocks}`
    return html`${copyable(id, /^json/.test(language) ? colouredJson(text) : text)}\n`
  }

  #link(address: string, content: Html): Html {
    if (content.html === '') return content
    const target = this.#options.linkTo(address)
    if (target === undefined) return content
    const rel = this.#options.isForeign && html` rel="nofollow noopener ugc"`
    return html`<a href="${target}"${rel}>${content}</a>`
  }

  #picture(address: string, text: string): Html {
    const picture = this.#options.pictureAt?.(address)
    // Foreign pictures are mostly badges, whose texts say nothing without their states.
    if (!picture) return this.#options.isForeign ? html`` : html`${text}`
    const { path, width, height } = picture
    return html`<img src="${path}" width="${width}" height="${height}" alt="${text}" loading="lazy">`
  }

  /** A paragraph alone in an item needs no element of its own. */
  #item(children: readonly Nodes[]): Html {
    const [first, ...rest] = children
    if (first?.type !== 'paragraph') return this.all(children)
    return html`${this.all(first.children)}${this.all(rest)}`
  }

  #table({ children }: Table): Html {
    const [head, ...rows] = children
    const header = head?.children.map((cell) => html`<th scope="col">${this.all(cell.children)}</th>`)
    const body = rows.map(
      (row) => html`<tr>${row.children.map((cell) => html`<td>${this.all(cell.children)}</td>`)}</tr>\n`,
    )
    return html`<div class="scroll" tabindex="0"><table><thead><tr>${header}</tr></thead>\n<tbody>\n${body}</tbody></table></div>\n`
  }
}

function textOf(nodes: readonly Nodes[]): string {
  return nodes
    .map((node) => {
      if ('value' in node) return isBreak(node) ? ' ' : node.value
      if (!('children' in node)) return ' '
      const inner = textOf(node.children)
      return isInline(node) ? inner : `${inner} `
    })
    .join('')
}

function isBreak({ type, value }: { readonly type: string; readonly value: string }): boolean {
  return type === 'html' && /^<br ?\/?>$/.test(value)
}

const inline = new Set(['emphasis', 'strong', 'delete', 'link'])

function isInline({ type }: Nodes): boolean {
  return inline.has(type)
}

function hasLink(nodes: readonly Nodes[]): boolean {
  return nodes.some((node) => node.type === 'link' || ('children' in node && hasLink(node.children)))
}

function sectionsOf(nodes: readonly RootContent[], headings: readonly Heading[]): Section[] {
  const sections: { id: string; heading: string; text: string }[] = []
  for (const node of nodes) {
    const heading = node.type === 'heading' ? headings[sections.length] : undefined
    if (heading) sections.push({ id: heading.id, heading: heading.text, text: '' })
    const section = sections.at(-1)
    if (section && !heading) section.text += `${textOf([node])} `
  }
  return sections
}
