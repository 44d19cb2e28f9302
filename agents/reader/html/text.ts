import type { Root } from 'hast'
import { childrenOf, isElement, type Node } from './hast.ts'

const blocks = new Set(
  'address article aside blockquote caption dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section summary table ul'.split(
    ' ',
  ),
)

/** A tidy tree as plain text: blocks apart, list items with a dash, table cells with a tab between. */
export function toText(root: Root): string {
  return write(root, false)
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function write(node: Node, isCode: boolean): string {
  if (node.type === 'text') return isCode ? node.value : node.value.replace(/[ \t\n\f\r]+/g, ' ')
  const inner = childrenOf(node)
    .map((child) => write(child, isCode || isElement(node, 'pre')))
    .join('')
  if (node.type !== 'element') return inner
  if (node.tagName === 'br') return '\n'
  if (node.tagName === 'li') return `\n- ${inner.trim()}`
  if (node.tagName === 'tr') return `\n${inner.trim()}`
  if (node.tagName === 'td' || node.tagName === 'th') return `${inner.trim()}\t`
  return blocks.has(node.tagName)
    ? `\n\n${isCode || node.tagName === 'pre' ? inner : inner.trim()}\n\n`
    : inner
}
