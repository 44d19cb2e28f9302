import { stemmer } from 'stemmer'
import { stopWords } from './stop-words.ts'

/**
 * Called with each term of a text: `term` is compared, `word` is the written form in lower case, `boilerplate` marks a
 * word without information about the request.
 */
type Emit = (term: string, word: string, boilerplate: boolean) => void

const maxCharacters = 20_000
const maxTermLength = 64

/** A letter of Chinese, Japanese or Korean, for expressions with the flag `v`. */
export const eastAsian = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]&&\p{L}]`
/** The marks of these scripts are vowels and tones. */
const southeastAsian = String.raw`[[\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{M}]]`
const unspaced = `[${eastAsian}${southeastAsian}]`
const spaced = String.raw`[[\p{L}\p{M}\p{N}]--${unspaced}]`
/** C#, F# and C++, which are other languages than C and F. */
const language = String.raw`(?<![\p{L}\p{M}\p{N}])[A-Za-z](?:\+\+|#)(?![\p{L}\p{M}\p{N}])`
/** A run of a script without spaces, or words of other scripts with the marks that join identifiers. */
const runs = new RegExp(String.raw`${language}|${unspaced}+|${spaced}+(?:[._\/\-]${spaced}+)*`, 'gv')
const startsUnspaced = new RegExp(`^${unspaced}`, 'v')
/** The same for ASCII. Classes of all scripts take long to compile, at the first text that needs them, and to match. */
const asciiRuns = /(?<![a-z0-9])[a-z](?:\+\+|#)(?![a-z0-9])|[a-z0-9]+(?:[._/-][a-z0-9]+)*/gi
/** The boundaries within `getPrice`, `HTMLPage`, `md2pdf`, `search_page` and `to-do`. */
export const joints =
  /[_-]|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u
const asciiJoints =
  /[_-]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])/
const plainWord = /^[a-z]+$/
const ascii = /^[\0-\x7f]*$/
/** Those of Latin, Greek and Cyrillic, and of Arabic, whose words are mostly written without. */
const accents = /[\u0300-\u036f\u064b-\u0655\u0670]/g

/**
 * Splits a text into terms, in one linear pass over its first 20,000 characters: words in lower case without accents,
 * English ones stemmed (Porter); identifiers both in pieces and joined, so that `search_page`, `searchPage` and
 * `search-page` are equal; Han, kana, Hangul, Thai, Lao, Khmer and Burmese as pairs of characters. Terms above 64
 * characters are dropped. `boilerplate` are the folded words without information, those of English when absent.
 */
export function analyse(text: string, emit: Emit, boilerplate: ReadonlySet<string> = stopWords): void {
  const normal = text.slice(0, maxCharacters).normalize('NFKC').slice(0, maxCharacters)
  const isAscii = ascii.test(normal)
  for (const run of normal.match(isAscii ? asciiRuns : runs) ?? []) {
    if (plainWord.test(run)) emitTerm(run, run, boilerplate.has(run), emit)
    else if (!isAscii && startsUnspaced.test(run)) emitPairs(run, emit)
    else emitIdentifier(run, emit, boilerplate)
  }
}

function emitIdentifier(run: string, emit: Emit, boilerplate: ReadonlySet<string>): void {
  const segments = run.split(/[./]/)
  const pieces = segments.flatMap((segment) => emitSegment(segment, emit, boilerplate))
  if (segments.length > 1) emitWhole(run, pieces, emit, boilerplate)
}

function emitSegment(segment: string, emit: Emit, boilerplate: ReadonlySet<string>): string[] {
  const pieces = segment.split(ascii.test(segment) ? asciiJoints : joints)
  for (const piece of pieces) {
    const folded = fold(piece)
    emitTerm(folded, piece.toLowerCase(), boilerplate.has(folded), emit)
  }
  if (pieces.length > 1) emitWhole(segment, pieces, emit, boilerplate)
  return pieces
}

function emitWhole(
  written: string,
  pieces: readonly string[],
  emit: Emit,
  boilerplate: ReadonlySet<string>,
): void {
  const folded = pieces.map(fold)
  const isBoilerplate = folded.every((piece) => boilerplate.has(piece))
  emitTerm(folded.join(''), written.toLowerCase(), isBoilerplate, emit)
}

function emitTerm(folded: string, written: string, boilerplate: boolean, emit: Emit): void {
  if (folded.length === 0 || folded.length > maxTermLength) return
  emit(stem(folded), written, boilerplate)
}

/** The term of a folded word: an English word without its ending. */
export function stem(folded: string): string {
  return folded.length > 2 && plainWord.test(folded) ? stemmer(folded) : folded
}

function emitPairs(run: string, emit: Emit): void {
  const characters = Array.from(run)
  if (characters.length === 1) emit(run, run, false)
  for (let index = 1; index < characters.length; index++) {
    const pair = `${characters[index - 1]}${characters[index]}`
    emit(pair, pair, false)
  }
}

/** A word in lower case without accents. */
export function fold(word: string): string {
  const lower = word.toLowerCase()
  if (ascii.test(lower)) return lower
  return lower.normalize('NFD').replace(accents, '').normalize('NFC')
}
