/** Longer words are not split into pieces. */
const maxCharacters = 100
/** A piece of a word counts as covered if it has at least this many characters. */
const minCoveredLength = 3

const startsCharacter = 1
const countsForCoverage = 2

/** The word that is being read, in UTF-8; reused for the next word. */
export class Word {
  /** The bytes added so far, unless the word is too long. */
  readonly bytes = new Uint8Array(4 * maxCharacters)
  size = 0
  /** In characters; counts on when the word is too long. */
  length = 0
  readonly #marks = new Uint8Array(4 * maxCharacters)

  get tooLong(): boolean {
    return this.length > maxCharacters
  }

  /** `isCountable` says whether coverage counts the character. */
  add(point: number, isCountable: boolean): void {
    this.length++
    if (this.tooLong) return
    const start = this.size
    if (point < 0x80) this.bytes[this.size++] = point
    else this.#addUtf8(point)
    this.#marks[start] = isCountable ? startsCharacter | countsForCoverage : startsCharacter
  }

  /** Number of covered characters of the piece [start, end). */
  coveredIn(start: number, end: number): number {
    let characters = 0
    let countable = 0
    for (let index = start; index < end; index++) {
      const flags = this.#marks[index] as number
      characters += flags & startsCharacter
      countable += flags >> 1
    }
    return characters === this.length || characters >= minCoveredLength ? countable : 0
  }

  clear(): void {
    this.size = this.length = 0
  }

  #addUtf8(point: number): void {
    if (point < 0x800) this.#addByte(0xc0 | (point >> 6))
    else {
      if (point < 0x10000) this.#addByte(0xe0 | (point >> 12))
      else {
        this.#addByte(0xf0 | (point >> 18))
        this.#addByte(0x80 | ((point >> 12) & 0x3f))
      }
      this.#addByte(0x80 | ((point >> 6) & 0x3f))
    }
    this.#addByte(0x80 | (point & 0x3f))
  }

  #addByte(byte: number): void {
    this.#marks[this.size] = 0
    this.bytes[this.size++] = byte
  }
}
