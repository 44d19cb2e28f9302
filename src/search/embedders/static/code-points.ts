/** Bits of a reading: the lowest 21 are a code point, or an index of `expansions`; the others are flags. */
export const pointBits = 0x1fffff
/** The character is removed. */
export const gone = 1 << 21
export const blank = 1 << 22
/** The character is a separate word: punctuation, a Chinese character. */
export const apart = 1 << 23
/** The character becomes several characters, those of `expansions`. */
export const several = 1 << 24
/** A letter or digit, so it counts for coverage. */
export const counted = 1 << 25
/** A Latin letter or an ASCII digit, which an English vocabulary can know. */
export const english = 1 << 26

const removed = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/u
const whitespace = /\p{White_Space}/u
const letterOrDigit = /[\p{L}\p{Nd}]/u
const latinOrDigit = /[\p{Script=Latin}0-9]/u
const accent = /\p{Mn}/u
const punctuation = /[!-/:-@[-`{-~\p{P}]/u

/** BERT's definition of Chinese, with the error in its sixth range (2B920 for 2B820). */
const chinese: readonly (readonly [first: number, last: number])[] = [
  [0x4e00, 0x9fff],
  [0x3400, 0x4dbf],
  [0x20000, 0x2a6df],
  [0x2a700, 0x2b73f],
  [0x2b740, 0x2b81f],
  [0x2b920, 0x2ceaf],
  [0xf900, 0xfaff],
  [0x2f800, 0x2fa1f],
]

interface CodePoints {
  /** Readings by code point; 0 until one is needed. */
  readonly readings: Int32Array
  readonly expansions: readonly Int32Array[]
  /** Computes, stores and returns the reading of a code point. A lone surrogate is removed. */
  read(code: number): number
}

/**
 * The result of BERT's normaliser (clean_text, handle_chinese_chars, strip_accents, lowercase) and pre-tokeniser for
 * each code point. Code points one at a time are enough: whole strings would only add the order of combining marks
 * that are not accents, and no piece has such a mark.
 */
export function createCodePoints(): CodePoints {
  const readings = new Int32Array(0x110000)
  const expansions: Int32Array[] = []

  function classify(code: number): number {
    const character = String.fromCodePoint(code)
    const separates = character === '\t' || character === '\n' || character === '\r'
    if (removed.test(character) && !separates) return gone
    if (whitespace.test(character)) return blank
    const englishFlag = latinOrDigit.test(character) ? english : 0
    const flags = letterOrDigit.test(character) ? counted | englishFlag : 0
    const normal = normalise(character)
    const point = normal.codePointAt(0)
    if (point === undefined) return gone
    if (normal.length > String.fromCodePoint(point).length)
      return flags | several | (expansions.push(toPoints(normal)) - 1)
    const alone = isChinese(code) || punctuation.test(String.fromCodePoint(point))
    return flags | point | (alone ? apart : 0)
  }

  return {
    readings,
    expansions,
    read(code) {
      const reading = classify(code)
      readings[code] = reading
      return reading
    },
  }
}

/** Lower-cases each character alone, as the reference does: no final sigma. */
function normalise(character: string): string {
  const decomposed = character.normalize('NFD')
  if (decomposed === character) return accent.test(character) ? '' : character.toLowerCase()
  const unaccented = Array.from(decomposed).filter((part) => !accent.test(part))
  return unaccented.map((part) => part.toLowerCase()).join('')
}

function toPoints(text: string): Int32Array {
  return Int32Array.from(text, (character) => character.codePointAt(0) as number)
}

function isChinese(code: number): boolean {
  return chinese.some(([first, last]) => code >= first && code <= last)
}
