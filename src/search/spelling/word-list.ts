import { jsonArrays, jsonPieces } from '../../common/pieces.ts'
import type { Pieces, Sections } from '../../common/sections.ts'
import { editCost, maxEdits, maxLetters } from './edit-cost.ts'

/** A word of a list that is like a word that was written. */
interface NearWord {
  readonly word: string
  readonly cost: number
}

/** Words beyond this number are not in the list, so that it has a bounded size. */
const maxWords = 200_000
/** Words in one piece of a snapshot. */
const savedWords = 10_000
const minLetters = 3
const letters = /^[\p{L}\p{M}]+$/u

/** True for what spelling can correct: letters alone, neither very few nor very many. */
export function isSpellable(word: string): boolean {
  return word.length >= minLetters && word.length <= maxLetters && letters.test(word)
}

/**
 * Words with the number of documents that have them. A search for similar words compares the letters of all words as
 * bits, which takes some 2 ns a word, then the few that remain letter by letter: it needs no further index.
 */
export class WordList {
  readonly #ids = new Map<string, number>()
  readonly #words: string[] = []
  /** Documents that have a word, and those of them that count. */
  readonly #uses: number[] = []
  readonly #counted: number[] = []
  readonly #free: number[] = []
  /** The letters of each word as bits; valid where there is a length. */
  #masks = new Uint32Array(1024)
  /** The number of letters of each word; 0 until a search needs it. */
  #lengths = new Uint8Array(1024)

  /** Restores what `save` returned. */
  static async load(sections: Sections): Promise<WordList> {
    const list = new WordList()
    const uses = await sections.integers('words.uses')
    const counted = await sections.integers('words.counted')
    for await (const words of jsonArrays<string>(sections, 'words')) {
      for (const word of words) {
        const id = list.#words.push(word) - 1
        list.#uses.push(uses[id] ?? 0)
        list.#counted.push(counted[id] ?? 0)
        if (word === '') list.#free.push(id)
        else list.#ids.set(word, id)
      }
    }
    list.#masks = new Uint32Array(list.#words.length + 1024)
    list.#lengths = new Uint8Array(list.#words.length + 1024)
    return list
  }

  *save(): Pieces {
    yield* jsonPieces('words', this.#words, savedWords)
    yield ['words.uses', Uint32Array.from(this.#uses)]
    yield ['words.counted', Uint32Array.from(this.#counted)]
  }

  /** Adds one document with the word. Returns the number of the word; undefined if the list is full. */
  add(word: string): number | undefined {
    const existing = this.#ids.get(word)
    if (existing === undefined && this.#ids.size >= maxWords) return undefined
    const id = existing ?? this.#create(word)
    this.#uses[id] = (this.#uses[id] ?? 0) + 1
    return id
  }

  remove(id: number): void {
    const left = (this.#uses[id] ?? 0) - 1
    this.#uses[id] = left
    if (left > 0) return
    this.#ids.delete(this.#words[id] ?? '')
    this.#words[id] = ''
    this.#lengths[id] = 0
    this.#free.push(id)
  }

  /** Counts a document more or less with the word. */
  count(id: number, by: number): void {
    this.#counted[id] = (this.#counted[id] ?? 0) + by
  }

  countOf(word: string): number {
    return this.#counted[this.#ids.get(word) ?? -1] ?? 0
  }

  /** The words that count and whose difference to `written` costs at most `limit`. */
  near(written: string, limit: number): NearWord[] {
    const found: NearWord[] = []
    const mask = maskOf(written)
    const edits = Math.min(maxEdits, Math.ceil(limit))
    const [shortest, longest] = [written.length - edits, written.length + edits]
    const masks = this.#masks
    const lengths = this.#lengths
    const count = this.#words.length
    for (let id = 0; id < count; id++) {
      const length = lengths[id] || this.#read(id)
      if (length < shortest || length > longest) continue
      const other = masks[id] as number
      if (bits(mask & ~other) > edits || bits(other & ~mask) > edits) continue
      if (this.#counted[id] === 0) continue
      const word = this.#words[id] as string
      const cost = editCost(written, word, limit)
      if (cost <= limit) found.push({ word, cost })
    }
    return found
  }

  #create(word: string): number {
    const id = this.#free.pop() ?? this.#words.length
    this.#ids.set(word, id)
    this.#words[id] = word
    this.#uses[id] = 0
    this.#counted[id] = 0
    if (id >= this.#masks.length) {
      const masks = new Uint32Array(2 * id)
      masks.set(this.#masks)
      this.#masks = masks
      const lengths = new Uint8Array(2 * id)
      lengths.set(this.#lengths)
      this.#lengths = lengths
    }
    return id
  }

  #read(id: number): number {
    const word = this.#words[id] as string
    this.#masks[id] = maskOf(word)
    this.#lengths[id] = word.length
    return word.length
  }
}

function maskOf(word: string): number {
  let mask = 0
  for (let index = 0; index < word.length; index++) mask |= 1 << (word.charCodeAt(index) & 31)
  return mask >>> 0
}

/** The number of bits of an integer that are set. */
function bits(integer: number): number {
  let left = integer - ((integer >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
