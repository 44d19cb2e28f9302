import type { Root } from 'hast'
import rehypeRemark from 'rehype-remark'
import remarkGfm from 'remark-gfm'
import remarkStringify from 'remark-stringify'
import { unified } from 'unified'
import { textOf } from './hast.ts'

/** A tidy tree as GitHub-flavoured Markdown. */
export function toMarkdown(root: Root): string {
  const processor = unified()
    .use(rehypeRemark, {
      // TeX is written as it stands: escaping its backslashes and underscores would change it.
      handlers: { math: (_state, node) => ({ type: 'html', value: textOf(node) }) },
    })
    .use(() => (tree: MarkdownNode) => tighten(tree))
    .use(remarkGfm, { tablePipeAlign: false })
    .use(remarkStringify, { bullet: '-', emphasis: '_', fences: true, rule: '-' })
  return processor.stringify(processor.runSync(root)).trim()
}

interface MarkdownNode {
  readonly type: string
  readonly children?: readonly MarkdownNode[]
  spread?: boolean | null
}

/** Lists without blank lines, except where an item has several paragraphs. */
function tighten(node: MarkdownNode): void {
  const children = node.children ?? []
  for (const child of children) tighten(child)
  if (node.type === 'listItem') node.spread = children.filter(({ type }) => type === 'paragraph').length > 1
  if (node.type === 'list') node.spread = children.some(({ spread }) => spread === true)
}
