import { createRequire } from 'node:module'
import type stringWidth from 'string-width'

/** A column of a table. Cells are of other people: white space in them is one space. */
export interface Column {
  readonly title: string
  /** Styles a cell after it is cut. */
  readonly style?: (cell: string) => string
  /** The column takes what room the others leave, and its cells are cut. */
  readonly elastic?: true
  /** The largest share of the width: longer cells are cut. */
  readonly share?: number
  /** Where room is short, the columns with the highest number go first; a column without one stays. */
  readonly dropped?: number
}

const gap = 2
/** An elastic column narrower than this says nothing; other columns go first. */
const leastElastic = 16

/**
 * The lines of a table at most `width` columns wide, with a head. Without a width, for a program: one line a row,
 * cells whole and separated by tabs, without a head.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): string[] {
  const cells = rows.map((row) => row.map(oneLine))
  if (width === undefined) {
    return cells.map((row) => row.map((cell, index) => columns[index]?.style?.(cell) ?? cell).join('\t'))
  }
  const measured = columns.map((column, index) => ({
    ...column,
    index,
    natural: Math.min(
      Math.max(widthOf(column.title), ...cells.map((row) => widthOf(row[index] ?? ''))),
      Math.max(leastElastic, Math.floor(width * (column.share ?? 1))),
    ),
  }))
  const fitted = fit(measured, width)
  const line = (texts: readonly string[], styled: boolean) =>
    fitted
      .map(({ index, room, style }, place) => {
        const text = cut(texts[index] ?? '', room)
        const padding = place === fitted.length - 1 ? '' : ' '.repeat(room - widthOf(text))
        return `${styled && style ? style(text) : text}${padding}`
      })
      .join(' '.repeat(gap))
      .trimEnd()
  const head = line(
    columns.map(({ title }) => title),
    false,
  )
  return [head, ...cells.map((row) => line(row, true))]
}

type Measured = Column & { readonly index: number; readonly natural: number }

/** The columns that have room, each with its width. */
function fit(columns: readonly Measured[], width: number): (Measured & { readonly room: number })[] {
  const needed = (shown: readonly Measured[]) =>
    shown.reduce(
      (sum, { natural, elastic }) => sum + (elastic ? Math.min(natural, leastElastic) : natural),
      gap * (shown.length - 1),
    )
  let shown = columns
  while (needed(shown) > width) {
    const next = shown.reduce<Measured | undefined>(
      (worst, column) => ((column.dropped ?? 0) > (worst?.dropped ?? 0) ? column : worst),
      undefined,
    )
    if (!next) break
    shown = shown.filter((column) => column !== next)
  }
  let left = width - gap * (shown.length - 1)
  const rigid = shown.reduce((sum, { natural, elastic }) => sum + (elastic ? 0 : natural), 0)
  return shown.map((column) => {
    const room = column.elastic ? Math.max(1, left - rigid) : column.natural
    const taken = Math.min(column.natural, room, Math.max(1, width))
    if (column.elastic) left -= taken
    return { ...column, room: taken }
  })
}

/** Letters, digits and punctuation of one column each, as in most texts. */
const narrow = /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u203e]*$/

const require = createRequire(import.meta.url)
let measure: typeof stringWidth | undefined

/**
 * Columns of a text on a terminal. The package takes some 20 ms of CPU time to load, and compiles large expressions, so
 * simple texts do without it.
 */
function widthOf(text: string): number {
  if (narrow.test(text)) return text.length
  measure ??= (require('string-width') as { default: typeof stringWidth }).default
  return measure(text)
}

/** A text of at most `width` columns: cut at a word, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let short = ''
  let used = 0
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  for (const { segment } of segmenter.segment(text)) {
    used += widthOf(segment)
    if (used > width - 1) break
    short += segment
  }
  const word = short.lastIndexOf(' ')
  const end = text[short.length] === ' ' || word < short.length / 2 ? short.length : word
  return `${short.slice(0, end).trimEnd()}…`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
