import type { Element, ElementContent } from 'hast'
import { attribute, childrenOf, element, find, isElement, type Node, textOf } from './hast.ts'

/** A formula as TeX between dollar signs: the TeX source that the page includes, else its MathML converted. */
export function tidyFormula(math: Element): readonly ElementContent[] {
  const source = find(math, 'annotation').find((annotation) =>
    attribute(annotation, 'encoding').endsWith('x-tex'),
  )
  const tex = (source ? textOf(source) : texOf(math)).replace(/\s+/g, ' ').trim()
  const delimiter = attribute(math, 'display') === 'block' ? '$$' : '$'
  return tex === '' ? [] : [element('raw', [{ type: 'text', value: `${delimiter}${tex}${delimiter}` }])]
}

/** Presentation MathML (MathML Core) as TeX. */
function texOf(node: Node): string {
  if (node.type === 'text') return node.value.trim()
  const parts = childrenOf(node)
    .filter((child) => child.type === 'element' || child.type === 'text')
    .map(texOf)
    .filter(Boolean)
  const [first = '', second = '', third = ''] = parts
  switch (isElement(node) ? node.tagName : '') {
    case 'annotation':
      return ''
    case 'mfrac':
      return `\\frac{${first}}{${second}}`
    case 'msqrt':
      return `\\sqrt{${parts.join(' ')}}`
    case 'mroot':
      return `\\sqrt[${second}]{${first}}`
    case 'msup':
    case 'mover':
      return `${first}^{${second}}`
    case 'msub':
    case 'munder':
      return `${first}_{${second}}`
    case 'msubsup':
    case 'munderover':
      return `${first}_{${second}}^{${third}}`
    case 'mtext':
      return `\\text{${parts.join(' ')}}`
    case 'mtable':
      return `\\begin{matrix} ${parts.join(' \\\\ ')} \\end{matrix}`
    case 'mtr':
      return parts.join(' & ')
    default:
      return parts.join(' ')
  }
}
