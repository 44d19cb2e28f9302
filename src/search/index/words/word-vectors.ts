import type { Embedder } from '../../embedders/embedder.ts'
import type { WordList } from '../../spelling/word-list.ts'
import { kernel } from './kernel.ts'

/** The first numbers of a vector hold most of it: more of them give no better ranking (docs/search-quality.md). */
const width = 64
const largest = 127
/** Space for words, whose numbers have 16 bits: half for those kept from search to search, the rest for one more. */
const maxWords = 50_000
/** Maximum words of each side of a comparison. */
const maxCompared = 512

const pageBytes = 65_536
const listBytes = maxCompared * 8
const firstDirection = 2 * listBytes
const pages = Math.ceil((firstDirection + maxWords * width) / pageBytes)

/** The words of an entry: each word of its name in several forms, and others by their numbers in a list. */
interface EntryWords {
  readonly name: readonly (readonly string[])[]
  readonly others: Uint32Array
}

/** The rows of the words of an entry, and what each form of its name tells. */
interface ReadWords {
  readonly rows: Uint16Array
  readonly importance: readonly (readonly number[])[]
}

/** What single words mean, each as a direction and a weight. One comparison at a time. */
export class WordVectors {
  readonly #vectorOf: (word: string) => Float32Array
  readonly #rows = new Map<string, number>()
  readonly #weights: number[] = []
  /** The words of the list that was last compared, and their rows, by their numbers there. */
  readonly #listed: string[] = []
  readonly #listedRows: number[] = []
  /** The words of the entries that were compared, by the objects that stand for them. */
  #entries = new WeakMap<object, ReadWords>()
  readonly #directions: Int8Array
  /** For each word of both sides the address of its direction and its highest dot product. */
  readonly #lists: Int32Array
  readonly #compare: (left: number, leftEnd: number, right: number, rightEnd: number) => void
  #querySize = 0

  constructor(vectorOf: (word: string) => Float32Array) {
    this.#vectorOf = vectorOf
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
    this.#lists = new Int32Array(memory.buffer, 0, firstDirection / 4)
    this.#directions = new Int8Array(memory.buffer, firstDirection)
    const module = new WebAssembly.Module(Buffer.from(kernel, 'base64'))
    const { exports } = new WebAssembly.Instance(module, { words: { memory } })
    this.#compare = exports.compare as (...addresses: number[]) => void
  }

  /** Begins comparisons with these words, at most 512. Returns what each tells about a text; 0 for an unknown word. */
  begin(query: readonly string[]): number[] {
    if (this.#weights.length > maxWords / 2) {
      this.#rows.clear()
      this.#weights.length = 0
      this.#listed.length = 0
      this.#entries = new WeakMap()
    }
    this.#querySize = query.length
    return query.map((word, at) => {
      const row = this.#rowOf(word)
      this.#set(maxCompared + at, row)
      return this.#weights[row] ?? 0
    })
  }

  /**
   * Compares the words of an entry, at most 512, with those of the query. They are read once for each object that stands
   * for an entry. Returns what each form of its name tells about a text.
   */
  compare(entry: object, wordsOf: () => EntryWords, list: WordList): readonly (readonly number[])[] {
    const { rows, importance } = this.#entries.get(entry) ?? this.#read(entry, wordsOf(), list)
    for (let at = 0; at < rows.length; at++) this.#set(at, rows[at] as number)
    for (let at = 0; at < this.#querySize; at++) this.#lists[2 * (maxCompared + at) + 1] = 0
    this.#compare(0, rows.length * 8, listBytes, listBytes + this.#querySize * 8)
    return importance
  }

  /** The highest cosine of a word that was compared with one of the query; at least 0. */
  highest(at: number): number {
    return (this.#lists[2 * at + 1] ?? 0) / (largest * largest)
  }

  /** The highest cosine of a word of the query with one that was compared; at least 0. */
  highestOfQuery(at: number): number {
    return this.highest(maxCompared + at)
  }

  #read(entry: object, { name, others }: EntryWords, list: WordList): ReadWords {
    const named = name.map((forms) => forms.map((form) => this.#rowOf(form)))
    const listed = Array.from(others, (number) => this.#rowOfListed(number, list))
    const read = {
      rows: Uint16Array.from([...named.flat(), ...listed]),
      importance: named.map((rows) => rows.map((row) => this.#weights[row] ?? 0)),
    }
    this.#entries.set(entry, read)
    return read
  }

  #set(at: number, row: number): void {
    this.#lists[2 * at] = firstDirection + row * width
    this.#lists[2 * at + 1] = 0
  }

  /** A look at the word is faster than a search for it. */
  #rowOfListed(number: number, list: WordList): number {
    const word = list.at(number)
    if (this.#listed[number] === word) return this.#listedRows[number] ?? 0
    const row = this.#rowOf(word)
    this.#listed[number] = word
    this.#listedRows[number] = row
    return row
  }

  #rowOf(word: string): number {
    return this.#rows.get(word) ?? this.#add(word)
  }

  #add(word: string): number {
    const vector = this.#vectorOf(word)
    const row = this.#weights.push(lengthOf(vector)) - 1
    const beginning = vector.subarray(0, width)
    const factor = largest / (lengthOf(beginning) || 1)
    for (let at = 0; at < beginning.length; at++)
      this.#directions[row * width + at] = Math.round(factor * (beginning[at] as number))
    this.#rows.set(word, row)
    return row
  }
}

function lengthOf(vector: Float32Array): number {
  let squares = 0
  for (const value of vector) squares += value * value
  return Math.sqrt(squares)
}

/** Undefined for a model that takes long for a word. */
export function createWordVectors({ wordVector }: Embedder): WordVectors | undefined {
  return wordVector && new WordVectors(wordVector)
}
