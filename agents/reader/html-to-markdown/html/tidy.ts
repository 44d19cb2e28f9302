import type { Element, ElementContent, Root } from 'hast'
import { passLanguageOn, tidyCode } from './code.ts'
import { markFootnotes } from './footnotes.ts'
import { tidyFormula } from './formulas.ts'
import { attribute, element, find, hasContent, isElement, rewrite, textOf } from './hast.ts'
import { tidyTable } from './tables.ts'
import { splitAtBreaks, tidyItem, tidyList, withEdgesOut } from './text-level.ts'

export interface TidyOptions {
  /** False removes links and keeps their text; true when absent. */
  readonly include_links?: boolean
  /** True when absent. */
  readonly include_images?: boolean
}

/**
 * Prepares a tree for output: absolute URLs, links only to the web and mail, the sources of lazy images, the language
 * of code, formulas as TeX, tables as grids, footnotes marked.
 */
export function tidy(root: Root, base: string, options: TidyOptions): Root {
  const { include_links = true, include_images = true } = options
  return rewrite(markFootnotes(root), (node) => {
    switch (node.tagName) {
      case 'a':
        return include_links ? tidyLink(node, base) : node.children
      case 'img':
        return include_images ? tidyImage(node, base) : []
      case 'pre':
        return [tidyCode(node)]
      case 'div':
        return [splitAtBreaks(passLanguageOn(node))]
      case 'p':
      case 'section':
      case 'article':
      case 'blockquote':
        return [splitAtBreaks(node)]
      case 'math':
        return tidyFormula(node)
      case 'table':
        return tidyTable(node)
      case 'span':
        return tidyTask(node)
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        return tidyHeading(node)
      case 'li':
        return tidyItem(node)
      case 'ul':
      case 'ol':
        return [tidyList(node)]
      case 'b':
      case 'strong':
      case 'i':
      case 'em':
      case 'del':
      case 's':
      case 'mark':
        return withEdgesOut(node)
      case 'rt':
        return hasContent(node) ? [{ type: 'text', value: `(${textOf(node).trim()})` }] : []
      case 'rp':
        return []
      case 'dt':
        return [{ ...node, children: [element('strong', node.children)] }]
      case 'summary':
        return find(node, 'h1', 'h2', 'h3', 'h4', 'h5', 'h6').length > 0
          ? node.children
          : [element('p', withEdgesOut(element('strong', node.children)))]
      default:
        return [node]
    }
  })
}

/** Link texts of permalinks to their own heading. */
const permalink = /^(?:[\s#¶§⚓∞^]|🔗)*$/u

function tidyHeading(heading: Element): readonly ElementContent[] {
  const { children } = rewrite({ type: 'root', children: heading.children }, (node) => {
    if (!isElement(node, 'a') || !attribute(node, 'href').includes('#')) return [node]
    return permalink.test(textOf(node)) && find(node, 'img').length === 0 ? [] : node.children
  })
  const content = children.filter((child) => child.type !== 'doctype')
  return content.some(hasContent) ? [{ ...heading, children: content }] : []
}

function tidyLink(link: Element, base: string): readonly ElementContent[] {
  const href = resolve(attribute(link, 'href'), base, ['http:', 'https:', 'mailto:'])
  if (!hasContent(link)) return []
  return href ? [{ ...link, properties: { ...link.properties, href } }] : link.children
}

function tidyImage(image: Element, base: string): readonly ElementContent[] {
  if (['width', 'height'].some((side) => /^[01](?:px)?$/.test(attribute(image, side)))) return []
  const sources = [
    attribute(image, 'dataSrc'),
    attribute(image, 'dataOriginal'),
    attribute(image, 'dataLazySrc'),
    lastCandidate(attribute(image, 'dataSrcset')),
    attribute(image, 'src'),
    lastCandidate(attribute(image, 'srcSet')),
  ]
  const src = sources.map((source) => resolve(source, base, ['http:', 'https:'])).find(Boolean)
  const { alt, title } = image.properties
  return src ? [{ ...image, properties: { src, alt: alt ?? '', title: title ?? null } }] : []
}

/** The last candidate of a srcset is the largest by custom. */
function lastCandidate(srcset: string): string {
  return srcset.split(/,\s+/).at(-1)?.trim().split(/\s/)[0] ?? ''
}

function resolve(reference: string, base: string, protocols: readonly string[]): string | undefined {
  if (reference === '' || !URL.canParse(reference, base)) return undefined
  const url = new URL(reference, base)
  return protocols.includes(url.protocol) ? url.href : undefined
}

function tidyTask(span: Element): readonly ElementContent[] {
  const state = attribute(span, 'dataTask')
  if (state === '') return [span]
  return [element('input', [], { type: 'checkbox', checked: state === 'done' })]
}
