import type { Element, ElementContent, Root } from 'hast'
import type { Manner } from '../port.ts'
import { attribute, childrenOf, find, isElement, rewrite, textOf } from './hast.ts'

/** Rows times columns beyond which a table is written as lines: padding its grid would cost more than it says. */
const largestGrid = 20_000

/**
 * Prepares a tree for Markdown: addresses absolute, links to anything but the web and mail unwrapped,
 * lazy images awake, code with its language, formulas as TeX.
 */
export function tidy(
  root: Root,
  base: string,
  { include_links = true, include_images = true }: Manner,
): Root {
  return rewrite(root, (element) => {
    switch (element.tagName) {
      case 'a':
        return include_links ? tidyLink(element, base) : element.children
      case 'img':
        return include_images ? tidyImage(element, base) : []
      case 'pre':
        return [tidyCode(element)]
      case 'div':
        return [passLanguageOn(element)]
      case 'math':
        return tidyFormula(element)
      case 'table':
        return [tidyTable(element)]
      case 'td':
      case 'th':
        return [{ ...element, properties: { ...element.properties, align: attribute(element, 'dataAlign') } }]
      case 'span':
        return tidyTask(element)
      default:
        return [element]
    }
  })
}

function tidyLink(element: Element, base: string): readonly ElementContent[] {
  const href = resolve(attribute(element, 'href'), base, ['http:', 'https:', 'mailto:'])
  const isEmpty = textOf(element).trim() === '' && find(element, 'img').length === 0
  if (isEmpty) return []
  return href ? [{ ...element, properties: { ...element.properties, href } }] : element.children
}

function tidyImage(element: Element, base: string): readonly ElementContent[] {
  if (['width', 'height'].some((side) => /^[01](?:px)?$/.test(attribute(element, side)))) return []
  const sources = [
    attribute(element, 'dataSrc'),
    attribute(element, 'dataOriginal'),
    attribute(element, 'dataLazySrc'),
    largest(attribute(element, 'dataSrcset')),
    attribute(element, 'src'),
    largest(attribute(element, 'srcSet')),
  ]
  const src = sources.map((source) => resolve(source, base, ['http:', 'https:'])).find(Boolean)
  const { alt, title } = element.properties
  return src ? [{ ...element, properties: { src, alt: alt ?? '', title: title ?? null } }] : []
}

/** The last candidate of a srcset is the largest by custom. */
function largest(srcset: string): string {
  return srcset.split(/,\s+/).at(-1)?.trim().split(/\s/)[0] ?? ''
}

function resolve(reference: string, base: string, protocols: readonly string[]): string | undefined {
  if (reference === '' || !URL.canParse(reference, base)) return undefined
  const url = new URL(reference, base)
  return protocols.includes(url.protocol) ? url.href : undefined
}

const language = /(?:^|\s)(?:language-|lang-|highlight-source-|brush:\s*)([\w+#.-]{1,30})/

function languageOf(element: Element): string | undefined {
  const stated = attribute(element, 'dataLanguage') || attribute(element, 'dataLang')
  return /^[\w+#.-]{1,30}$/.test(stated) ? stated : language.exec(attribute(element, 'className'))?.[1]
}

/** One `<code>` inside `<pre>`, which carries the language whichever of the two had it. */
function tidyCode(pre: Element): Element {
  const inner = pre.children.find((child) => isElement(child, 'code'))
  const name = languageOf(pre) ?? (inner && isElement(inner) ? languageOf(inner) : undefined)
  const properties = name ? { className: [`language-${name}`] } : {}
  const value = codeText(pre)
  return {
    ...pre,
    properties: {},
    children: [{ type: 'element', tagName: 'code', properties, children: [{ type: 'text', value }] }],
  }
}

function codeText(node: Element | ElementContent): string {
  if (node.type === 'text') return node.value
  if (isElement(node, 'br')) return '\n'
  return childrenOf(node)
    .map((child) => codeText(child as ElementContent))
    .join('')
}

/** Highlighters name the language on a `<div>` around the `<pre>`. */
function passLanguageOn(division: Element): Element {
  const name = languageOf(division)
  const [code, second] = name ? find(division, 'code') : []
  if (name && code && !second && !languageOf(code)) code.properties.className = [`language-${name}`]
  return division
}

function tidyFormula(math: Element): readonly ElementContent[] {
  const source = find(math, 'annotation').find((one) => attribute(one, 'encoding') === 'application/x-tex')
  const tex = textOf(source ?? math).trim()
  const mark = attribute(math, 'display') === 'block' ? '$$' : '$'
  if (tex === '') return []
  return [{ ...math, properties: {}, children: [{ type: 'text', value: `${mark}${tex}${mark}` }] }]
}

function tidyTask(span: Element): readonly ElementContent[] {
  const state = attribute(span, 'dataTask')
  if (state === '') return [span]
  const properties = { type: 'checkbox', checked: state === 'done' }
  return [{ type: 'element', tagName: 'input', properties, children: [] }]
}

function tidyTable(table: Element): Element {
  const rows = find(table, 'tr')
  const widths = rows.map((row) => row.children.reduce((sum, cell) => sum + spanOf(cell), 0))
  const columns = widths.reduce((most, width) => Math.max(most, width), 0)
  if (rows.length * columns <= largestGrid) return table
  const lines = rows.map((row): Element => {
    const value = row.children
      .map((cell) => textOf(cell).trim())
      .filter(Boolean)
      .join(' | ')
    return { type: 'element', tagName: 'p', properties: {}, children: [{ type: 'text', value }] }
  })
  return { type: 'element', tagName: 'div', properties: {}, children: lines }
}

function spanOf(cell: ElementContent): number {
  return isElement(cell) ? Math.max(1, Number(attribute(cell, 'colSpan')) || 1) : 0
}
