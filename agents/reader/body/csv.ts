import type { Element, ElementContent } from 'hast'
import { element } from '../html-to-markdown/html/hast.ts'
import { toMarkdown } from '../html-to-markdown/html/markdown.ts'
import { fenced } from './verbatim.ts'

/** Limits above which a table is no easier to read than its source. */
const max = { rows: 1000, cells: 5000 }

/**
 * Comma-separated values (RFC 4180) as a table whose first row is the head, or in a code fence if the table would be
 * large.
 */
export function csvOf(text: string, essence: string): string {
  const rows = parse(text, separatorOf(text, essence))
  const columns = rows?.reduce((widest, row) => Math.max(widest, row.length), 0) ?? 0
  if (!rows || columns === 0 || rows.length * columns > max.cells) return fenced(text.trim(), 'csv')
  const line = (row: readonly string[], name: string): Element => {
    const cells = Array.from({ length: columns }, (_, index): ElementContent => {
      return element(name, [{ type: 'text', value: (row[index] ?? '').trim() }])
    })
    return element('tr', cells)
  }
  const [head = [], ...body] = rows
  const table = element('table', [line(head, 'th'), ...body.map((row) => line(row, 'td'))])
  return toMarkdown({ type: 'root', children: [table] })
}

function separatorOf(text: string, essence: string): string {
  if (essence === 'text/tab-separated-values') return '\t'
  const first = text.slice(0, 10_000).split('\n', 1)[0] ?? ''
  const count = (separator: string) => first.split(separator).length
  return [',', ';', '\t'].reduce((best, separator) => (count(separator) > count(best) ? separator : best))
}

/** Null if there are more rows than the limit. */
function parse(text: string, separator: string): string[][] | null {
  const rows: string[][] = []
  let row: string[] = []
  const field = new RegExp(
    `(?:"([^"]*(?:""[^"]*)*)"|([^"\\r\\n${separator}][^\\r\\n${separator}]*)?)(${separator}|\\r?\\n|$)`,
    'y',
  )
  while (field.lastIndex < text.length) {
    const found = field.exec(text)
    if (!found) return null
    const [, quoted, bare = '', end] = found
    row.push(quoted?.replaceAll('""', '"') ?? bare)
    if (end === separator) continue
    if (row.length > 1 || row[0] !== '') rows.push(row)
    if (rows.length > max.rows) return null
    row = []
  }
  if (row.length > 0) rows.push([...row, ''])
  return rows
}
