import type { Element, ElementContent, Properties, Root, RootContent } from 'hast'

export type Node = Root | RootContent

/** The children of a node, empty for leaves. */
export function childrenOf(node: Node): readonly RootContent[] {
  return 'children' in node ? node.children : []
}

export function isElement(node: Node, ...names: string[]): node is Element {
  return node.type === 'element' && (names.length === 0 || names.includes(node.tagName))
}

export function element(
  tagName: string,
  children: readonly ElementContent[] = [],
  properties: Properties = {},
): Element {
  return { type: 'element', tagName, properties, children: [...children] }
}

/** An attribute as a string; '' if it is absent. */
export function attribute(element: Element, name: string): string {
  const value = element.properties[name]
  return Array.isArray(value)
    ? value.join(' ')
    : typeof value === 'string' || typeof value === 'number'
      ? `${value}`
      : ''
}

/** All text of a node, as written. */
export function textOf(node: Node): string {
  return node.type === 'text' ? node.value : childrenOf(node).map(textOf).join('')
}

const blocks = new Set(
  'address article aside blockquote caption dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav note ol p pre section summary table ul'.split(
    ' ',
  ),
)

/** True for elements that occupy their own lines. */
export function isBlock(node: Node): boolean {
  return node.type === 'element' && blocks.has(node.tagName)
}

const visibleElements = new Set(['img', 'input', 'raw', 'footnote', 'hr'])

/** True for a node with text or other visible content. */
export function hasContent(node: Node): boolean {
  if (node.type === 'text') return node.value.trim() !== ''
  return (isElement(node) && visibleElements.has(node.tagName)) || childrenOf(node).some(hasContent)
}

/** Elements of these names, in document order. */
export function find(node: Node, ...names: string[]): Element[] {
  const inside = childrenOf(node).flatMap((child) => find(child, ...names))
  return isElement(node, ...names) ? [node, ...inside] : inside
}

/** Rebuilds a tree from the leaves up: `change` replaces each element. */
export function rewrite(root: Root, change: (element: Element) => readonly ElementContent[]): Root {
  return { ...root, children: root.children.flatMap((node) => rewriteNode(node, change)) }
}

function rewriteNode<N extends RootContent>(
  node: N,
  change: (element: Element) => readonly ElementContent[],
): readonly (N | ElementContent)[] {
  if (node.type !== 'element') return [node]
  return change({ ...node, children: node.children.flatMap((child) => rewriteNode(child, change)) })
}
