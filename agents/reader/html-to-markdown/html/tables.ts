import type { Element, ElementContent } from 'hast'
import { isNumbers } from './code.ts'
import { attribute, element, find, isBlock, isElement, textOf } from './hast.ts'

/** Cells above which a table is written as lines, since its grid would be mostly padding. */
const maxGridCells = 20_000
/** Characters of a cell up to which it is repeated in each row that it spans. */
const maxRepeatedCharacters = 200

/**
 * A table in the form of Markdown: one head row, cells of one line, no merged cells. A row span is repeated in each
 * row, a column span fills its first column. A layout table is unwrapped.
 */
export function tidyTable(table: Element): readonly ElementContent[] {
  const rows = rowsOf(table)
  const widths = rows.map((row) => row.children.filter((child) => isElement(child)).length)
  const columns = Math.max(0, ...widths.slice(0, maxGridCells))
  if (columns <= 1 || find(table, 'table').length > 1) return unwrapped(rows)
  const code = codeOf(rows)
  if (code) return code
  const lines = gridOf(rows)
  const caption = find(table, 'caption').flatMap((entry) =>
    textOf(entry).trim() ? [element('p', entry.children)] : [],
  )
  if (!lines) return [...caption, asLines(rows)]
  const isHeaded = find(table, 'thead').length > 0 || find(table, 'th').length > 0
  const name = (index: number) => (isHeaded && index === 0 ? 'th' : 'td')
  const cells = lines.map((line, index) => line.map((cell) => ({ ...cell, tagName: name(index) })))
  return [
    ...caption,
    element(
      'table',
      cells.map((line) => element('tr', line)),
    ),
  ]
}

/** The rows of a table itself, without those of nested tables. */
function rowsOf(part: Element): Element[] {
  return part.children.flatMap((child) => {
    if (isElement(child, 'tr')) return [child]
    return isElement(child, 'thead', 'tbody', 'tfoot') ? rowsOf(child) : []
  })
}

function unwrapped(rows: readonly Element[]): Element[] {
  const division = (cell: ElementContent) => (isElement(cell) ? { ...cell, tagName: 'div' } : cell)
  return rows.map((row) => element('div', row.children.map(division)))
}

/** The code beside a column of line numbers. */
function codeOf([row, second]: readonly Element[]): readonly ElementContent[] | undefined {
  const cells = row?.children.filter((cell) => isElement(cell)) ?? []
  const [numbers, code] = cells
  if (second || cells.length !== 2 || !numbers || !code || !isNumbers(textOf(numbers))) return undefined
  return find(code, 'pre').length === 1 ? code.children : undefined
}

/** The grid of cells; undefined if there are too many. */
function gridOf(rows: readonly Element[]): Element[][] | undefined {
  /** For each column, the cell that spans down from above, and the number of further rows that it covers. */
  const above: { cell: Element; left: number }[] = []
  const lines: Element[][] = []
  let total = 0
  for (const row of rows) {
    const line: Element[] = []
    const comeDown = () => {
      for (let entry = above[line.length]; entry && entry.left > 0; entry = above[line.length]) {
        entry.left--
        line.push(entry.cell)
      }
    }
    for (const cell of row.children) {
      if (!isElement(cell)) continue
      comeDown()
      const flat = element('td', flatten(cell), { align: attribute(cell, 'dataAlign') })
      const isLong = textOf(flat).length > maxRepeatedCharacters
      for (let column = 0; column < spanOf(cell, 'colSpan'); column++) {
        const repeated = column === 0 && !isLong ? flat : element('td')
        above[line.length] = { cell: repeated, left: spanOf(cell, 'rowSpan') - 1 }
        line.push(column === 0 ? flat : repeated)
      }
    }
    comeDown()
    total += line.length
    if (total > maxGridCells || line.length * rows.length > maxGridCells) return undefined
    if (line.length > 0) lines.push(line)
  }
  return lines
}

function spanOf(cell: Element, name: 'colSpan' | 'rowSpan'): number {
  return Math.max(1, Number(attribute(cell, name)) || 1)
}

/** The content of a cell on one line, with `<br>` for line breaks. */
function flatten(cell: Element): ElementContent[] {
  const out: ElementContent[] = []
  let isOwed = false
  const put = (node: ElementContent) => {
    if (isOwed && out.length > 0) out.push(raw('<br>'))
    isOwed = false
    out.push(node)
  }
  const walk = (node: ElementContent) => {
    if (node.type !== 'element') {
      if (textOf(node).trim() !== '' || !isOwed) put(node)
    } else if (node.tagName === 'br') isOwed = true
    else if (node.tagName === 'raw') put(raw(textOf(node).replaceAll('|', '\\vert ')))
    else if (node.tagName === 'pre') put(element('code', [{ type: 'text', value: textOf(node).trim() }]))
    else if (isBlock(node)) {
      isOwed = true
      if (node.tagName === 'li') put({ type: 'text', value: '- ' })
      node.children.forEach(walk)
      isOwed = true
    } else put(node)
  }
  cell.children.forEach(walk)
  return out
}

function raw(value: string): Element {
  return element('raw', [{ type: 'text', value }])
}

function asLines(rows: readonly Element[]): Element {
  const lines = rows.map((row) => {
    const cells = row.children.map((cell) => textOf(cell).trim()).filter(Boolean)
    return element('p', [{ type: 'text', value: cells.join(' | ') }])
  })
  return element('div', lines)
}
