import type { Element, Root } from 'hast'
import { attribute, childrenOf, element, find, isElement, type Node, rewrite, textOf } from './hast.ts'

const most = 500
/** What may be a note. */
const holders = new Set(['li', 'p', 'div', 'aside', 'dd'])
/** What leads back from a note to its place in the text. */
const backMark = /^(?:[\s↩↑⤴⏎^[\]←«]|\u{FE0E})*$/u

/**
 * Marks footnotes: a link in `<sup>` (or named a note's) to an element with an id, and that element, become
 * `<footnote>` and `<note>` with one number in common. What is linked and not there stays a link.
 */
export function markFootnotes(root: Root): Root {
  const references = find(root, 'a').filter(isReference).slice(0, most)
  if (references.length === 0) return root
  const settings = new Map<string, string>()
  const known = new Set(find(root, ...holders).map((one) => attribute(one, 'id')))
  for (const reference of references) {
    const id = targetOf(reference)
    if (known.has(id) && !settings.has(id)) settings.set(id, `${settings.size + 1}`)
  }
  if (settings.size === 0) return root
  return rewrite(root, (one) => {
    const number = settings.get(attribute(one, 'id'))
    if (one.tagName === 'sup') return onlyFootnotes(one) ?? [one]
    if (one.tagName === 'a' && isReference(one) && settings.has(targetOf(one))) {
      return [element('footnote', [], { dataNumber: settings.get(targetOf(one)) ?? '' })]
    }
    if (number !== undefined && holders.has(one.tagName)) {
      return [element('note', withoutWayBack(one).children, { dataNumber: number })]
    }
    if (one.tagName === 'ol' || one.tagName === 'ul')
      return find(one, 'note').length > 0 ? one.children : [one]
    return [one]
  })
}

function targetOf(link: Element): string {
  const [, id = ''] = /#(.+)$/.exec(attribute(link, 'href')) ?? []
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

/** A short mark that leads to a note rather than a link of words. */
function isReference(link: Element): boolean {
  const text = textOf(link).trim()
  const isNamed = /footnote|noteref|fnref/i.test(
    `${attribute(link, 'className')} ${attribute(link, 'role')} ${attribute(link, 'rel')} ${attribute(link, 'id')}`,
  )
  const isMark = /^[[(]?(?:\d{1,3}|[*†‡§a-z])[\])]?$/i.test(text)
  return (
    attribute(link, 'href').includes('#') && (isNamed ? text.length <= 12 && !backMark.test(text) : isMark)
  )
}

/** A raised mark that is nothing but footnotes is those. */
function onlyFootnotes(sup: Element): Element[] | undefined {
  const inside = sup.children.filter((child) => isElement(child, 'footnote'))
  const rest = sup.children.filter((child) => !isElement(child, 'footnote'))
  return inside.length > 0 && rest.every((child) => /^[\s,[\]]*$/.test(textOf(child))) ? inside : undefined
}

function withoutWayBack(note: Element): Element {
  const isBack = (node: Node) =>
    isElement(node, 'a') && attribute(node, 'href').includes('#') && backMark.test(textOf(node))
  const { children } = rewrite({ type: 'root', children: note.children }, (one) =>
    isBack(one) || (isElement(one, 'sup') && one.children.length > 0 && childrenOf(one).every(isBack))
      ? []
      : [one],
  )
  return { ...note, children: children.filter((child) => child.type !== 'doctype') }
}
