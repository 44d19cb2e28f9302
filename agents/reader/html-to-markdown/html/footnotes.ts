import type { Element, Root } from 'hast'
import { attribute, childrenOf, element, find, isElement, type Node, rewrite, textOf } from './hast.ts'

const maxReferences = 500
/** Elements that may be a note. */
const holders = new Set(['li', 'p', 'div', 'aside', 'dd'])
/** Text of a link from a note back to its reference. */
const backMark = /^(?:[\s↩↑⤴⏎^[\]←«]|\u{FE0E})*$/u

/**
 * Marks footnotes: a link in `<sup>` (or with the class of a note) to an element with an id becomes `<footnote>`, the
 * element `<note>`, both with the same number. A link to an id that does not exist stays a link.
 */
export function markFootnotes(root: Root): Root {
  const references = find(root, 'a').filter(isReference).slice(0, maxReferences)
  if (references.length === 0) return root
  const notes = new Map<string, string>()
  const ids = new Set(find(root, ...holders).map((node) => attribute(node, 'id')))
  for (const reference of references) {
    const id = targetOf(reference)
    if (ids.has(id) && !notes.has(id)) notes.set(id, `${notes.size + 1}`)
  }
  if (notes.size === 0) return root
  return rewrite(root, (node) => {
    const number = notes.get(attribute(node, 'id'))
    if (node.tagName === 'sup') return onlyFootnotes(node) ?? [node]
    if (node.tagName === 'a' && isReference(node) && notes.has(targetOf(node))) {
      return [element('footnote', [], { dataNumber: notes.get(targetOf(node)) ?? '' })]
    }
    if (number !== undefined && holders.has(node.tagName)) {
      return [element('note', withoutWayBack(node).children, { dataNumber: number })]
    }
    if (node.tagName === 'ol' || node.tagName === 'ul')
      return find(node, 'note').length > 0 ? node.children : [node]
    return [node]
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

/** True for a short mark that links to a note, as opposed to a link of words. */
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

/** The footnotes of a `<sup>` that contains nothing else. */
function onlyFootnotes(sup: Element): Element[] | undefined {
  const inside = sup.children.filter((child) => isElement(child, 'footnote'))
  const rest = sup.children.filter((child) => !isElement(child, 'footnote'))
  return inside.length > 0 && rest.every((child) => /^[\s,[\]]*$/.test(textOf(child))) ? inside : undefined
}

function withoutWayBack(note: Element): Element {
  const isBack = (node: Node) =>
    isElement(node, 'a') && attribute(node, 'href').includes('#') && backMark.test(textOf(node))
  const { children } = rewrite({ type: 'root', children: note.children }, (node) =>
    isBack(node) || (isElement(node, 'sup') && node.children.length > 0 && childrenOf(node).every(isBack))
      ? []
      : [node],
  )
  return { ...note, children: children.filter((child) => child.type !== 'doctype') }
}
