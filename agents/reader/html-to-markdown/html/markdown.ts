import type { Element, Root } from 'hast'
import rehypeRemark from 'rehype-remark'
import remarkGfm from 'remark-gfm'
import remarkStringify from 'remark-stringify'
import { unified } from 'unified'
import { attribute, textOf } from './hast.ts'

type Handlers = NonNullable<Parameters<typeof rehypeRemark>[1]>['handlers'] & object

const html = (value: string) => ({ type: 'html' as const, value })

const handlers: Handlers = {
  /** TeX, and the few tags for which Markdown has no syntax, are written unchanged. */
  raw: (_state, node: Element) => html(textOf(node)),
  sub: (state, node: Element) => [html('<sub>'), ...(state.all(node) as []), html('</sub>')],
  sup: (state, node: Element) => [html('<sup>'), ...(state.all(node) as []), html('</sup>')],
  footnote(_state, node: Element) {
    const identifier = attribute(node, 'dataNumber')
    return { type: 'footnoteReference', identifier, label: identifier }
  },
  note(state, node: Element) {
    const identifier = attribute(node, 'dataNumber')
    return {
      type: 'footnoteDefinition',
      identifier,
      label: identifier,
      children: state.toFlow(state.all(node)),
    }
  },
}

/** A tidy tree as GitHub-flavoured Markdown. */
export function toMarkdown(root: Root): string {
  const processor = unified()
    .use(rehypeRemark, { handlers })
    .use(() => (tree: MarkdownNode) => tighten(tree))
    .use(remarkGfm, { tablePipeAlign: false })
    .use(remarkStringify, { bullet: '-', emphasis: '*', fences: true, rule: '-' })
  return plainAddresses(processor.stringify(processor.runSync(root))).trim()
}

/** GFM turns bare URLs into links anyway, so they need no escapes. */
const bareAddress = /\b(https?(?=\\:\/\/)|www(?=\\\.))\\/g
const destination = /\]\((?:[^()\\\s]|\\.)+/g
/** An ampersand that cannot begin a character reference. */
const escapedAmpersand = /\\&(?![a-z\d#]+;)/gi

/** URLs without the backslashes that parsers do not need. */
function plainAddresses(markdown: string): string {
  return markdown
    .replace(bareAddress, '$1')
    .replace(destination, (part) => part.replace(escapedAmpersand, '&'))
}

interface MarkdownNode {
  readonly type: string
  readonly children?: readonly MarkdownNode[]
  spread?: boolean | null
}

/** Removes blank lines from lists, unless an item has several paragraphs. */
function tighten(node: MarkdownNode): void {
  const children = node.children ?? []
  for (const child of children) tighten(child)
  if (node.type === 'listItem') node.spread = children.filter(({ type }) => type === 'paragraph').length > 1
  if (node.type === 'list') node.spread = children.some(({ spread }) => spread === true)
}
