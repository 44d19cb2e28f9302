import { jsonArrays, jsonPieces } from '../../common/pieces.ts'
import type { Pieces, Sections } from '../../common/sections.ts'
import { editCost, editCounter, leastCost, maxEdits, maxLetters } from './edit-cost.ts'

/** A word of a list that is like a word that was written. */
export interface NearWord {
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
 * Words with the number of documents that have them. A search for similar words compares the letters of all words of
 * about the same length as bits, which takes some 2 ns a word, then the few that remain letter by letter.
 */
export class WordList {
  readonly #ids = new Map<string, number>()
  readonly #words: string[] = []
  /** Documents that have a word, and those of them that count. */
  readonly #uses: number[] = []
  readonly #counted: number[] = []
  readonly #free: number[] = []
  /** The words by their lengths; undefined until the first search, so that a start is fast. */
  #byLength: readonly WordsOfLength[] | undefined

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
    const word = this.#words[id] ?? ''
    this.#ids.delete(word)
    this.#byLength?.[word.length]?.remove(id)
    this.#words[id] = ''
    this.#free.push(id)
  }

  /** Counts a document more or less with the word. */
  count(id: number, by: number): void {
    this.#counted[id] = (this.#counted[id] ?? 0) + by
  }

  /** The word with this number. */
  at(id: number): string {
    return this.#words[id] ?? ''
  }

  countOf(word: string): number {
    return this.#counted[this.#ids.get(word) ?? -1] ?? 0
  }

  /** The words that count and whose difference to `written` costs at most `limit`. */
  near(written: string, limit: number): NearWord[] {
    const found: NearWord[] = []
    const mask = maskOf(written)
    const edits = Math.min(maxEdits, Math.ceil(limit))
    const errorsIn = editCounter(written)
    const [shortest, longest] = [written.length - edits, written.length + edits]
    this.#byLength ??= this.#divided()
    for (const { ids, masks, size } of this.#byLength.slice(Math.max(0, shortest), longest + 1)) {
      for (let at = 0; at < size; at++) {
        const other = masks[at] as number
        const different = mask ^ other
        if (bits(different) > 2 * edits || bits(different & mask) > edits || bits(different & other) > edits)
          continue
        const id = ids[at] as number
        if (this.#counted[id] === 0) continue
        const word = this.#words[id] as string
        if (errorsIn(word) * leastCost > limit) continue
        const cost = editCost(written, word, limit)
        if (cost <= limit) found.push({ word, cost })
      }
    }
    return found
  }

  #create(word: string): number {
    const id = this.#free.pop() ?? this.#words.length
    this.#ids.set(word, id)
    this.#words[id] = word
    this.#uses[id] = 0
    this.#counted[id] = 0
    this.#byLength?.[word.length]?.add(id, word)
    return id
  }

  #divided(): readonly WordsOfLength[] {
    const byLength = Array.from({ length: maxLetters + 1 }, () => new WordsOfLength())
    for (const [word, id] of this.#ids) byLength[word.length]?.add(id, word)
    return byLength
  }
}

/** The numbers of the words of one length, and their letters as bits. */
class WordsOfLength {
  ids = new Uint32Array(16)
  masks = new Uint32Array(16)
  size = 0

  add(id: number, word: string): void {
    if (this.size === this.ids.length) {
      this.ids = doubled(this.ids)
      this.masks = doubled(this.masks)
    }
    this.ids[this.size] = id
    this.masks[this.size] = maskOf(word)
    this.size++
  }

  /** The last word takes the place of the removed one. */
  remove(id: number): void {
    const at = this.ids.indexOf(id)
    this.size--
    this.ids[at] = this.ids[this.size] as number
    this.masks[at] = this.masks[this.size] as number
  }
}

function doubled(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(2 * numbers.length)
  more.set(numbers)
  return more
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
