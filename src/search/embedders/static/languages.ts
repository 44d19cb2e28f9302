import { Failure } from '../../../../schemas/failure.ts'
import type { PieceIndex } from './piece-index.ts'
import { readFacts, readTable, type Table } from './table.ts'

/** A text in which words of other languages than English were found. */
export interface Reading {
  /** Rows of the table of languages, one for each piece that was found. */
  readonly rows: readonly number[]
  /** The other words of the text, which the English table reads. */
  readonly rest: string
  /** Letters in words of other languages, and those of them that belong to a known piece. */
  readonly letters: number
  readonly covered: number
  /** The text with each word of another language replaced by its nearest English words, where it has some. */
  readonly english: string
}

/** Vectors of words and pieces of words of other languages, in the space of the English table. */
export interface Languages {
  readonly table: Table
  /** Undefined if the text is English. */
  read(text: string): Reading | undefined
}

/** Bytes of `facts.bin` for each piece: how foreign it is, in twentieths, and two English words, 0 for none. */
const factBytes = 5
const oddsUnit = 20
/** A text is foreign if the logarithms of the odds of its Latin words sum to more than this. */
const minForeign = 1
/** A word that is English with more certainty is English in every text. */
const maxEnglish = -2.5
const oddsOfEnglish = -2
const oddsOfAccents = 2
/** A Latin word without a row of its own is split only if its pieces cover this share of it. */
const minCovered = 0.6

/** A kind of writing: a run of its letters, and the least bytes of a piece within a word; 0 where words are unspaced. */
interface Script {
  readonly pattern: RegExp
  readonly least: number
}
const latin: Script = { pattern: /[a-zßæøœıđł]+/y, least: 3 }
const scripts: readonly Script[] = [
  latin,
  { pattern: /[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々]+/y, least: 0 },
  { pattern: /[\uac00-\ud7a3]+/y, least: 0 },
  { pattern: /[\u0430-\u045f]+/y, least: 6 },
]

const otherLetter = /[[\u0080-\u{10ffff}]&&\p{L}]/v
const foreignLetter = /[\u0080-\u{10ffff}]/u
const words = /[a-z]+/g
const unmarked = /[[\u0080-\u{10ffff}]--[\u3040-\u30ff\uac00-\ud7a3]]+/gv
const marks = /\p{Mn}/gu

/** False if every word of the text is a whole word of the English vocabulary. */
export function mayBeForeign(text: string, english: PieceIndex): boolean {
  if (otherLetter.test(text)) return true
  return (
    text
      .toLowerCase()
      .match(words)
      ?.some((word) => english.idOf(word) === -1) ?? false
  )
}

/** Reads the table of languages in `folder`. Throws Failure `unavailable`, which names the file at fault. */
export async function readLanguages(folder: string, english: Table): Promise<Languages> {
  const table = await readTable(folder)
  if (table.dimensions !== english.dimensions)
    throw new Failure('unavailable', `The table of languages in ${folder} does not fit the English table.`)
  const { pieces } = table
  const facts = new DataView((await readFacts(folder, factBytes * pieces.count)).buffer)
  const encoder = new TextEncoder()

  interface Word {
    readonly text: string
    readonly end: number
    readonly script: Script
    readonly bytes: Uint8Array
    /** The row of the whole word; -1 if it has none. */
    readonly row: number
  }

  function readWord(text: string, start: number): Word | undefined {
    for (const script of scripts) {
      script.pattern.lastIndex = start
      const word = script.pattern.exec(text)?.[0]
      if (word === undefined) continue
      const bytes = encoder.encode(word)
      const longest = pieces.longest(bytes, 0, bytes.length, false)
      const isWhole = longest !== -1 && pieces.sizes[longest] === bytes.length
      return { text: word, end: start + word.length, script, bytes, row: isWhole ? longest : -1 }
    }
    return undefined
  }

  /** The logarithm of the odds that a Latin word is not English. */
  function oddsOf({ text, row }: Word, accented: boolean): number {
    if (row !== -1) return facts.getInt8(factBytes * row) / oddsUnit
    if (english.pieces.idOf(text) !== -1) return oddsOfEnglish
    return accented ? oddsOfAccents : 0
  }

  /** The pieces of a word, the longest first from each position on; undefined for an English word. */
  function cut(word: Word): { rows: number[]; covered: number } | undefined {
    const { bytes, script, row } = word
    if (row !== -1) {
      const isEnglish = script === latin && facts.getInt8(factBytes * row) / oddsUnit < maxEnglish
      return isEnglish ? undefined : { rows: [row], covered: word.text.length }
    }
    if (script === latin && english.pieces.idOf(word.text) !== -1) return undefined
    const rows: number[] = []
    let covered = 0
    for (let start = 0; start < bytes.length; ) {
      const piece = pieces.longest(bytes, start, bytes.length, false)
      const size = piece === -1 ? 0 : (pieces.sizes[piece] as number)
      if (size > 0 && size >= script.least) {
        rows.push(piece)
        covered += size
        start += size
      } else start += sizeOfCharacter(bytes[start] as number)
    }
    const share = covered / bytes.length
    return script === latin && share < minCovered ? undefined : { rows, covered: share * word.text.length }
  }

  /** The English words of the pieces that make up the greater part of a word, or of any piece of an unspaced text. */
  function glossesOf({ bytes, script }: Word, rows: readonly number[]): string {
    const telling = rows.filter(
      (row) => script.least === 0 || (pieces.sizes[row] as number) >= minCovered * bytes.length,
    )
    const ids = telling.flatMap((row) =>
      [1, 3].map((offset) => facts.getUint16(factBytes * row + offset, true)),
    )
    return [...new Set(ids)].flatMap((id) => (id === 0 ? [] : english.pieces.textOf(id))).join(' ')
  }

  return {
    table,
    read(text) {
      const { normal, accented } = normalise(text)
      const found: (Word & { readonly start: number })[] = []
      for (let start = 0; start < normal.length; ) {
        const word = readWord(normal, start)
        if (word) found.push({ ...word, start })
        start = word?.end ?? start + 1
      }
      const seen = new Map(found.filter(({ script }) => script === latin).map((word) => [word.text, word]))
      let odds = 0
      for (const word of seen.values()) odds += oddsOf(word, accented.has(word.text))
      const rows: number[] = []
      let [rest, translated, letters, covered, end] = ['', '', 0, 0, 0]
      for (const word of found) {
        const pieces = word.script === latin && odds <= minForeign ? undefined : cut(word)
        if (!pieces) continue
        rows.push(...pieces.rows)
        letters += word.text.length
        covered += pieces.covered
        const between = normal.slice(end, word.start)
        rest += `${between} `
        translated += `${between} ${glossesOf(word, pieces.rows) || word.text} `
        end = word.end
      }
      if (rows.length === 0) return undefined
      const last = normal.slice(end)
      return { rows, rest: rest + last, letters, covered, english: translated + last }
    },
  }
}

/** The text in lower case without accents, and its words that had accents. */
function normalise(text: string): { normal: string; accented: ReadonlySet<string> } {
  const lower = text.normalize('NFKC').toLowerCase()
  if (!foreignLetter.test(lower)) return { normal: lower, accented: new Set() }
  const strip = (part: string) => part.replace(unmarked, (run) => run.normalize('NFD').replace(marks, ''))
  const accented = lower.match(/[\p{Script=Latin}\p{M}]+/gu)?.filter((word) => foreignLetter.test(word)) ?? []
  return { normal: strip(lower), accented: new Set(accented.map(strip)) }
}

function sizeOfCharacter(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}
