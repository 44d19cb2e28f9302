import { readDocument } from './document-terms.ts'
import { type PostingList, Postings } from './postings.ts'
import type { QueryTerm } from './query-terms.ts'
import type { Scoreboard } from './scoreboard.ts'
import type { SearchDocument } from './search-index.ts'

/** Where the terms of one document went. */
export interface IndexedText {
  readonly length: number
  readonly terms: readonly PostingList[]
  /** The terms of each capability, in the document's order. */
  readonly capabilities: readonly (readonly PostingList[])[]
  /** The exact names of the document. */
  readonly names: readonly PostingList[]
}

/** A term of a query that the index knows. */
export interface WeighedTerm {
  readonly list: PostingList
  readonly words: ReadonlySet<string>
  readonly weight: number
}

/** Saturation of term frequency and strength of length normalisation (Robertson and Zaragoza 2009). */
const k1 = 1.2
const b = 0.75

/** BM25F over the live documents, which are known by slot: every change is exact at once. */
export class TextIndex {
  readonly #terms = new Postings()
  readonly #names = new Postings()
  readonly #lengths: number[] = []
  #totalLength = 0
  #documents = 0

  add(slot: number, document: SearchDocument): IndexedText {
    const { frequencies, length, capabilities } = readDocument(document)
    const terms = [...frequencies].map(([term, frequency]) => this.#terms.add(term, slot, frequency))
    const names = new Set([exactName(document.name), exactName(document.package_name)])
    this.#lengths[slot] = length
    this.#totalLength += length
    this.#documents++
    return {
      length,
      terms,
      capabilities: capabilities.map((words) => [...words].flatMap((word) => this.#terms.get(word) ?? [])),
      names: [...names].map((name) => this.#names.add(name, slot)),
    }
  }

  remove(slot: number, text: IndexedText): void {
    for (const list of text.terms) this.#terms.remove(list, slot)
    for (const list of text.names) this.#names.remove(list, slot)
    this.#totalLength -= text.length
    this.#documents--
  }

  /** The terms that occur, by rarity and by the root of their count in the query. */
  weigh(terms: readonly QueryTerm[]): WeighedTerm[] {
    return terms.flatMap(({ term, words, count }) => {
      const list = this.#terms.get(term)
      if (!list) return []
      const rarity = Math.log(1 + (this.#documents - list.size + 0.5) / (list.size + 0.5))
      return { list, words, weight: rarity * Math.sqrt(count) }
    })
  }

  /** Adds the score of every document with one of the terms; an exact name outdoes whatever words can give. */
  score(text: string, terms: readonly WeighedTerm[], board: Scoreboard): void {
    const slope = (k1 * b * this.#documents) / (this.#totalLength || 1)
    for (const term of terms) this.#scoreTerm(term, slope, board)
    const named = this.#names.get(exactName(text))
    if (!named) return
    const most = terms.reduce((sum, term) => sum + term.weight, 0)
    for (const slot of named.slots.subarray(0, named.size)) board.add(slot, most || 1)
  }

  #scoreTerm({ list, weight }: WeighedTerm, slope: number, board: Scoreboard): void {
    const { slots, weights: frequencies, size } = list
    const flat = k1 * (1 - b)
    for (let index = 0; index < size; index++) {
      const slot = slots[index] ?? 0
      const frequency = frequencies[index] ?? 0
      const length = this.#lengths[slot] ?? 0
      board.add(slot, (weight * frequency) / (frequency + flat + slope * length))
    }
  }
}

function exactName(text: string): string {
  return text.slice(0, 300).normalize('NFKC').trim().toLowerCase()
}
