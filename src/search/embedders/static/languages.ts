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
  /**
   * The text with each word of another language replaced by its nearest English words, where it has some. Those of
   * `without`, folded, are left out.
   */
  english(without?: ReadonlySet<string>): string
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
/** A Latin word is a compound if pieces of so many letters and odds cover this share of it, the last one with more of both. */
const compound = { covered: 0.9, letters: 4, odds: 1, lastLetters: 5, lastOdds: 2.5 }
/** A plural of Spanish, Portuguese, French or Italian words. */
const plural = /(?<=[a-z]{4}[aeo])s$/
/** Endings of Russian nouns and adjectives in their cases, and of the words that dictionaries list; `й` is read as `и`. */
const caseEnding =
  /(?<=[\u0430-\u045f]{3})(?:[аеиоуыюя]|[аоыя]х|[аоеыи][ми]|[аяыи]ми|[ое]в|[оеыи]е|[ую]ю|[ая]я|[ое]го)$/
const listedEndings = ['а', 'я', 'ь', '', 'ы', 'и', 'е', 'о', 'ия', 'ие', 'ыи', 'ии', 'ои']
/** German letters as they are written where the keyboard has none. */
const digraphs = /([aou])e/g

/** A kind of writing: a run of its letters, and the least bytes of a piece within a word; 0 where words are unspaced. */
interface Script {
  readonly pattern: RegExp
  readonly least: number
}
const latin: Script = { pattern: /[a-zßæøœıđł]+/y, least: 3 }
const cyrillic: Script = { pattern: /[\u0430-\u045f]+/y, least: 6 }
const scripts: readonly Script[] = [
  latin,
  { pattern: /[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々]+/y, least: 0 },
  { pattern: /[\uac00-\ud7a3]+/y, least: 0 },
  cyrillic,
]

const otherLetter = /[[\u0080-\u{10ffff}]&&\p{L}]/v
const foreignLetter = /[\u0080-\u{10ffff}]/u
const words = /[a-z]+/g
const wholeWords = /\p{L}+/gu
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
      return {
        text: word,
        end: start + word.length,
        script,
        bytes: encoder.encode(word),
        row: rowIn(script, word),
      }
    }
    return undefined
  }

  function rowIn(script: Script, word: string): number {
    if (script === latin) return rowOfForms(word)
    return script === cyrillic ? rowOfCases(word) : pieces.idOf(word)
  }

  /** The row of a Latin word, or of its singular, or of its form with umlauts; -1 if it has none. */
  function rowOfForms(word: string): number {
    const row = pieces.idOf(word)
    if (row !== -1 || english.pieces.idOf(word) !== -1) return row
    const others = [word.replace(plural, ''), word.replace(digraphs, '$1')]
    const form = others.find((other) => other !== word && isForeignAlone(other))
    return form === undefined ? -1 : pieces.idOf(form)
  }

  /** The row of a Cyrillic word, or of a form of it in another case; -1 if it has none. */
  function rowOfCases(word: string): number {
    const row = pieces.idOf(word)
    const stem = word.replace(caseEnding, '')
    if (row !== -1 || stem === word) return row
    const form = listedEndings.find((ending) => pieces.idOf(`${stem}${ending}`) !== -1)
    return form === undefined ? -1 : pieces.idOf(`${stem}${form}`)
  }

  function isForeignAlone(word: string): boolean {
    return pieces.idOf(word) !== -1 && english.pieces.idOf(word) === -1
  }

  /** The pieces of a word of which each is a word, such as *Bild* and *Bearbeitung*; undefined for other words. */
  function partsOf({ bytes, script, row }: Word): readonly number[] | undefined {
    if (script !== latin || row !== -1) return undefined
    const { rows, covered } = piecesOf(bytes, compound.letters)
    const last = rows.at(-1)
    if (last === undefined || rows.length < 2 || covered < compound.covered * bytes.length) return undefined
    const isHead =
      (pieces.sizes[last] as number) >= compound.lastLetters &&
      oddsOfRow(last) >= compound.lastOdds &&
      english.pieces.idOf(pieces.textOf(last)) === -1
    return isHead && rows.every((part) => oddsOfRow(part) >= compound.odds) ? rows : undefined
  }

  function oddsOfRow(row: number): number {
    return facts.getInt8(factBytes * row) / oddsUnit
  }

  /** The logarithm of the odds that a Latin word is not English. */
  function oddsOf(word: Word, accented: boolean): number {
    const { text, row } = word
    if (row !== -1) return oddsOfRow(row)
    if (english.pieces.idOf(text) !== -1) return oddsOfEnglish
    return accented || partsOf(word) ? oddsOfAccents : 0
  }

  /** The longest pieces from each position on that have at least so many bytes, and the bytes that they cover. */
  function piecesOf(bytes: Uint8Array, least: number): { rows: number[]; covered: number } {
    const rows: number[] = []
    let covered = 0
    for (let start = 0; start < bytes.length; ) {
      const piece = pieces.longest(bytes, start, bytes.length, false)
      const size = piece === -1 ? 0 : (pieces.sizes[piece] as number)
      if (size > 0 && size >= least) {
        rows.push(piece)
        covered += size
        start += size
      } else start += sizeOfCharacter(bytes[start] as number)
    }
    return { rows, covered }
  }

  /** False for a word that has pieces only within it, which tell less: *mappe* has *app*. */
  function startsWithPiece(bytes: Uint8Array): boolean {
    const piece = pieces.longest(bytes, 0, bytes.length, false)
    return piece !== -1 && (pieces.sizes[piece] as number) >= latin.least
  }

  /** The pieces of a word, the longest first from each position on; undefined for an English word. */
  function cut(word: Word): { rows: number[]; covered: number } | undefined {
    const { bytes, script, row } = word
    if (row !== -1) {
      const isEnglish = script === latin && oddsOfRow(row) < maxEnglish
      return isEnglish ? undefined : { rows: [row], covered: word.text.length }
    }
    if (script === latin && (english.pieces.idOf(word.text) !== -1 || !startsWithPiece(bytes)))
      return undefined
    const { rows, covered } = piecesOf(bytes, script.least)
    const share = covered / bytes.length
    return script === latin && share < minCovered ? undefined : { rows, covered: share * word.text.length }
  }

  /**
   * The English words of the pieces that make up the greater part of a word, of the words of a compound, or of any piece
   * of an unspaced text. A Latin word that the English table lacks, and that is rather English by its odds, has none and
   * stands for itself: *JavaScript*, *Docker*.
   */
  function glossesOf(word: Word, rows: readonly number[], accented: boolean): string {
    const { text, bytes, script } = word
    const isForeign = script !== latin || accented || english.pieces.idOf(text) !== -1
    const isTelling = (row: number) =>
      (row === word.row || (pieces.sizes[row] as number) >= minCovered * bytes.length) &&
      (isForeign || oddsOfRow(row) >= 0)
    const telling = script.least === 0 ? rows : (partsOf(word) ?? rows.filter(isTelling))
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
      const replaced: { readonly word: Word; readonly rows: readonly number[]; readonly between: string }[] =
        []
      let [rest, letters, covered, end] = ['', 0, 0, 0]
      for (const word of found) {
        const pieces = word.script === latin && odds <= minForeign ? undefined : cut(word)
        if (!pieces) continue
        rows.push(...pieces.rows)
        letters += word.text.length
        covered += pieces.covered
        const between = normal.slice(end, word.start)
        rest += `${between} `
        replaced.push({ word, rows: pieces.rows, between })
        end = word.end
      }
      if (rows.length === 0) return undefined
      const last = normal.slice(end)
      const english = (without: ReadonlySet<string> = new Set()) => {
        const telling = (part: string) => part.replace(wholeWords, (word) => (without.has(word) ? '' : word))
        return (
          replaced
            .map(({ word, rows, between }) =>
              without.has(word.text)
                ? telling(between)
                : `${telling(between)} ${glossesOf(word, rows, accented.has(word.text)) || word.text} `,
            )
            .join('') + telling(last)
        )
      }
      return { rows, rest: rest + last, letters, covered, english }
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
