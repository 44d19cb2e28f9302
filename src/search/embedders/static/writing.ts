import {
  arabicInflections,
  cyrillicInflections,
  hindiInflections,
  type Inflection,
  latinInflections,
} from './inflections.ts'
import type { PieceIndex } from './piece-index.ts'

/** A kind of writing: a run of its letters, and the least bytes of a piece within a word; 0 where words are unspaced. */
export interface Script {
  readonly pattern: RegExp
  readonly least: number
  /** How its words change, except for names; likelier ones first. */
  readonly inflections: readonly Inflection[]
}
export const latin: Script = { pattern: /[a-zßæøœıđł]+/y, least: 3, inflections: latinInflections }
export const scripts: readonly Script[] = [
  latin,
  {
    pattern: /[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆]+/y,
    least: 0,
    inflections: [],
  },
  { pattern: /[\uac00-\ud7a3]+/y, least: 0, inflections: [] },
  { pattern: /[\u0430-\u0491]+/y, least: 6, inflections: cyrillicInflections },
  { pattern: /[\u0621-\u064a\u0671-\u06d3]+/y, least: 8, inflections: arabicInflections },
  { pattern: /[\u0900-\u0963\u0970-\u097f]+/y, least: 12, inflections: hindiInflections },
]

const otherLetter = /[[\u0080-\u{10ffff}]&&\p{L}]/v
const foreignLetter = /[\u0080-\u{10ffff}]/u
const words = /[a-z]+/g
/** Without the scripts whose marks are letters. */
const unmarked = /[[\u0080-\u{10ffff}]--[\u0900-\u097f\u3040-\u30ff\uac00-\ud7a3]]+/gv
const marks = /\p{Mn}/gu
/** Marks of Devanagari that some write, and others do not or in another way. */
const [nukta, anusvara] = ['\u093c', '\u0902']
const optionalMarks = /[\u093c\u0901]/g
/** A word with a capital letter after one without. */
const name = /\p{Lu}(?<=(?:^|\s)\p{Ll}+\s\p{Lu})\p{Ll}+/gu
/** Within a word of Ukrainian; elsewhere they stand between words. */
const apostrophes = /['’ʼ](?<=\p{scx=Cyrl}['’ʼ])(?=\p{scx=Cyrl})/gu

/** A text as words of it are compared. */
export interface Writing {
  /** The text in lower case without accents. */
  readonly normal: string
  /** Words that had accents. */
  readonly accented: ReadonlySet<string>
  /** Words with a capital letter after one without. */
  readonly names: ReadonlySet<string>
}

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

/** The text in lower case without accents. */
export function normalForm(text: string): string {
  return withoutMarks(text.normalize('NFKC').toLowerCase())
}

/** The text in lower case without accents, and what its writing tells of its words. */
export function normalise(text: string): Writing {
  const composed = text.normalize('NFKC')
  const lower = composed.toLowerCase()
  const names = new Set(composed.match(name)?.map(normalForm))
  if (!foreignLetter.test(lower)) return { normal: lower, accented: new Set(), names }
  const accented = lower.match(/[\p{Script=Latin}\p{M}]+/gu)?.filter((word) => foreignLetter.test(word)) ?? []
  return { normal: withoutMarks(lower), accented: new Set(accented.map(withoutMarks)), names }
}

function withoutMarks(lower: string): string {
  return lower
    .replace(unmarked, (run) => run.normalize('NFD').replace(marks, ''))
    .replace(apostrophes, '')
    .replace(optionalMarks, (mark) => (mark === nukta ? '' : anusvara))
}
