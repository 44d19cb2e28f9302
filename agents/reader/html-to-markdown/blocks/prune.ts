import type { Element, Root, RootContent } from 'hast'
import { childrenOf, isElement, type Node } from '../html/hast.ts'
import type { Block } from './blocks.ts'
import { type PageStructure, upward } from './page.ts'
import { isOneTable } from './structure.ts'

const parts = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption'])

/**
 * The page with only these blocks and their containers. A data table stays whole; a layout table becomes divisions.
 * Pictures and rules stay if the blocks before and after them stay.
 */
export function prune({ blocks, containers, whole }: PageStructure, chosen: ReadonlySet<Block>): Root {
  const indexes = new Map<Node, number>(
    blocks.flatMap(({ nodes }, index) => nodes.map((node) => [node, index])),
  )
  const holders = new Set<Node>(containers.map(({ element }) => element))
  const tables = new Set<Node>(containers.filter(isOneTable).map(({ element }) => element))
  const held = new Set<Node>(
    [...chosen].flatMap(({ container }) => [...upward(container)].map(({ element }) => element)),
  )
  const isChosen = (index: number) => {
    const block = blocks[index]
    return block === undefined || chosen.has(block)
  }
  /** Index of the previous block. */
  let last = -1

  function pruned(node: RootContent, isWhole: boolean): RootContent[] {
    const index = indexes.get(node)
    if (index !== undefined) {
      last = index
      return isChosen(index) ? [node] : []
    }
    if (isElement(node) && holders.has(node) && node.tagName !== 'hr')
      return holder(node, isWhole || tables.has(node))
    return isBlank(node) || (isChosen(last) && isChosen(last + 1)) ? [node] : []
  }

  function holder(element: Element, isWhole: boolean): RootContent[] {
    const children = element.children.flatMap((child) => pruned(child, isWhole)) as Element['children']
    const isPart = parts.has(element.tagName)
    const isGone = tables.has(element) ? !held.has(element) : !(isWhole && isPart) && children.every(isBlank)
    if (isGone) return []
    return [{ ...element, tagName: isPart && !isWhole ? 'div' : element.tagName, children }]
  }

  return { type: 'root', children: childrenOf(whole.element).flatMap((child) => pruned(child, false)) }
}

function isBlank(node: RootContent): boolean {
  return node.type === 'text' && node.value.trim() === ''
}
