import type { Root } from 'hast'
import { attribute, childrenOf, isBlock, type Node, textOf } from './hast.ts'

/** A tidy tree as plain text: blocks separated, list items with a dash, table cells separated by tabs. */
export function toText(root: Root): string {
  return write(root, false)
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function write(node: Node, isCode: boolean): string {
  if (node.type === 'text') return isCode ? node.value : node.value.replace(/[ \t\n\f\r]+/g, ' ')
  const isElement = node.type === 'element'
  const inner = childrenOf(node)
    .map((child) => write(child, isCode || (isElement && node.tagName === 'pre')))
    .join('')
  if (!isElement) return inner
  switch (node.tagName) {
    case 'raw':
      return textOf(node) === '<br>' ? ' ' : textOf(node)
    case 'br':
      return '\n'
    case 'li':
      return `\n- ${inner.trim()}`
    case 'tr':
      return `\n${inner.trim()}`
    case 'td':
    case 'th':
      return `${inner.trim()}\t`
    case 'footnote':
      return `[${attribute(node, 'dataNumber')}]`
    case 'note':
      return `\n\n[${attribute(node, 'dataNumber')}] ${inner.trim()}\n\n`
    default:
      return isBlock(node) ? `\n\n${isCode || node.tagName === 'pre' ? inner : inner.trim()}\n\n` : inner
  }
}
