import unhomoglyph from 'unhomoglyph'

/** A word of a display name in three forms, by which words are compared whose letters look alike (UTS #39). */
export interface DisplayWord {
  /** The skeleton of the word as written: `PayPaI` with a capital i is `paypal`. */
  readonly written: string
  /** The skeleton of the word in lower case: `MICROSOFT` is as `Microsoft`. */
  readonly lower: string
  /** Equal for all words of which one of the other forms is equal, and for a few more. */
  readonly key: string
}

/** Words by which a name claims to be the true one; names are compared without them. */
const qualifiers: ReadonlySet<string> = new Set(
  'official officially verified authentic genuine original real trusted certified authorized authorised'
    .split(' ')
    .map((word) => formsOf(word).key),
)

/** Letters in black circles and squares, which NFKC leaves as they are. */
const enclosed = /[\u{1F150}-\u{1F169}\u{1F170}-\u{1F189}]/gu

/** The words of a display name, without signs, pictures and marks. */
export function wordsOf(name: string): DisplayWord[] {
  const plain = name
    .replace(/[™℠]/g, '')
    .replace(enclosed, (letter) => String.fromCharCode(65 + (((letter.codePointAt(0) ?? 0) - 0x1f150) % 32)))
    .normalize('NFKC')
  const words = withoutMarks(plain).match(/[\p{Letter}\p{Number}|]+/gu) ?? []
  return words.map(formsOf)
}

export function isQualifier({ key }: DisplayWord): boolean {
  return qualifiers.has(key)
}

/** The words that name something: all words of a name that has only qualifiers. */
function namingWords(words: readonly DisplayWord[]): readonly DisplayWord[] {
  const naming = words.filter((word) => !isQualifier(word))
  return naming.length > 0 ? naming : words
}

/** Equal for display names that look alike, and for a few others; '' for a name without letters and digits. */
export function displayKey(name: string): string {
  return namingWords(wordsOf(name))
    .map(({ key }) => key)
    .join('')
}

/** True if two names look alike, whatever separates their words. */
export function looksLike(words: readonly DisplayWord[], others: readonly DisplayWord[]): boolean {
  const [these, those] = [namingWords(words), namingWords(others)]
  const isEqual = (form: 'written' | 'lower') =>
    these.map((word) => word[form]).join('') === those.map((word) => word[form]).join('')
  return these.length > 0 && (isEqual('written') || isEqual('lower'))
}

function formsOf(word: string): DisplayWord {
  const written = plainLetters(word)
  const lower = plainLetters(word.toLowerCase())
  return { written, lower, key: plainLetters(written).replace(/i/g, 'l') }
}

function plainLetters(word: string): string {
  return withoutMarks(unhomoglyph(word)).toLowerCase()
}

function withoutMarks(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .normalize('NFC')
}
