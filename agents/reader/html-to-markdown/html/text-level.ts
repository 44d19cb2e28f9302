import type { Element, ElementContent } from 'hast'
import { element, hasContent, isElement } from './hast.ts'

/** Moves white space at the edges of emphasis outside, since Markdown allows none there; unwraps empty emphasis. */
export function withEdgesOut(parent: Element): readonly ElementContent[] {
  if (!hasContent(parent)) return parent.children
  const children = [...parent.children]
  const first = children[0]
  const before = first?.type === 'text' ? (/^\s+/.exec(first.value)?.[0] ?? '') : ''
  if (first?.type === 'text') children[0] = { ...first, value: first.value.slice(before.length) }
  const last = children.at(-1)
  const after = last?.type === 'text' ? last.value.slice(last.value.trimEnd().length) : ''
  if (last?.type === 'text') children[children.length - 1] = { ...last, value: last.value.trimEnd() }
  const inside = children.filter((child) => child.type !== 'text' || child.value !== '')
  return [...blank(before), { ...parent, children: inside }, ...blank(after)]
}

function blank(text: string): ElementContent[] {
  return text === '' ? [] : [{ type: 'text', value: ' ' }]
}

/** Splits at two consecutive line breaks, by which pages without paragraphs separate them. */
export function splitAtBreaks(parent: Element): Element {
  const parts: ElementContent[][] = [[]]
  let breaks: ElementContent[] = []
  for (const child of parent.children) {
    const isBreak = isElement(child, 'br')
    if (isBreak || (breaks.length > 0 && child.type === 'text' && child.value.trim() === '')) {
      breaks.push(child)
      continue
    }
    if (breaks.filter((each) => isElement(each)).length > 1) parts.push([])
    else parts.at(-1)?.push(...breaks)
    breaks = []
    parts.at(-1)?.push(child)
  }
  if (parts.length === 1) return parent
  const name = parent.tagName === 'p' ? 'p' : 'div'
  const children = parts.filter((part) => part.some(hasContent)).map((part) => element(name, part))
  return { ...parent, tagName: parent.tagName === 'p' ? 'div' : parent.tagName, children }
}

/** A list item without the element that some pages put around its checkbox; an empty list for an empty item. */
export function tidyItem(item: Element): readonly ElementContent[] {
  if (!hasContent(item)) return []
  const [first, ...rest] = item.children.filter((child) => child.type !== 'text' || child.value.trim() !== '')
  const isBoxed =
    first &&
    isElement(first, 'div', 'p') &&
    isElement(first.children[0] ?? first, 'input') &&
    !rest.some(isParagraph)
  return [isBoxed ? { ...item, children: [...first.children, ...rest] } : item]
}

function isParagraph(node: ElementContent): boolean {
  return isElement(node, 'p')
}

/** Moves a list that is a direct child of a list into the item before it. */
export function tidyList(list: Element): Element {
  const children: ElementContent[] = []
  for (const child of list.children) {
    const before = children.findLast((parent) => isElement(parent, 'li'))
    if (isElement(child, 'ul', 'ol') && before && isElement(before)) before.children.push(child)
    else children.push(child)
  }
  return { ...list, children }
}
