import { type CapabilityTerms, pairTerms } from './capability-terms.ts'
import { readDocument } from './document-terms.ts'
import { PostingList, Postings } from './postings.ts'
import type { QueryTerm } from './query-terms.ts'
import type { Scoreboard } from './scoreboard.ts'
import type { SearchDocument } from './search-index.ts'

/** Where the terms of one document went. */
export interface IndexedText {
  readonly length: number
  /** Whether it bears on how rare a term is and how long texts are. */
  readonly counts: boolean
  readonly terms: readonly PostingList[]
  readonly capabilities: CapabilityTerms
  /** The exact names of the document. */
  readonly names: readonly PostingList[]
}

/** A term of a query; the list of one that the index does not know is empty. */
export interface WeighedTerm {
  readonly list: PostingList
  readonly words: ReadonlySet<string>
  readonly weight: number
}

/** Saturation of term frequency and strength of length normalisation (Robertson and Zaragoza 2009). */
const k1 = 1.2
const b = 0.75
const unknown = new PostingList('', -1)

/**
 * BM25F over the live documents, which are known by slot: every change is exact at once. Only ACTIVE ones count in
 * what it weighs by, so that no score tells what stands in one that is hidden.
 */
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
    const text = {
      length,
      counts: document.state === 'ACTIVE',
      terms,
      capabilities: pairTerms(
        capabilities.map((words) => [...words].flatMap((word) => this.#terms.get(word) ?? [])),
      ),
      names: [...names].map((name) => this.#names.add(name, slot)),
    }
    this.#count(text, 1)
    return text
  }

  remove(slot: number, text: IndexedText): void {
    for (const list of text.terms) this.#terms.remove(list, slot)
    for (const list of text.names) this.#names.remove(list, slot)
    this.#count(text, -1)
  }

  /** The terms by rarity and by the root of their count in the query; one that nothing has is the rarest. */
  weigh(terms: readonly QueryTerm[]): WeighedTerm[] {
    return terms.map(({ term, words, count }) => {
      const list = this.#terms.get(term) ?? unknown
      const rarity = Math.log(1 + (this.#documents - list.counted + 0.5) / (list.counted + 0.5))
      return { list, words, weight: rarity * Math.sqrt(count) }
    })
  }

  /** Adds the score of every document with one of the terms; an exact name outdoes whatever words can give. */
  score(text: string, terms: readonly WeighedTerm[], board: Scoreboard): void {
    const average = this.#totalLength / this.#documents || 1
    for (const term of terms) this.#scoreTerm(term, average, board)
    const named = this.#names.get(exactName(text))
    if (!named) return
    const most = terms.reduce((sum, term) => sum + term.weight, 0)
    for (const slot of named.slots.subarray(0, named.size)) board.add(slot, most || 1)
  }

  #scoreTerm({ list, weight }: WeighedTerm, average: number, board: Scoreboard): void {
    const { slots, weights: frequencies, size } = list
    const flat = k1 * (1 - b)
    const slope = (k1 * b) / average
    for (let index = 0; index < size; index++) {
      const slot = slots[index] ?? 0
      const frequency = frequencies[index] ?? 0
      const length = this.#lengths[slot] ?? 0
      board.add(slot, (weight * frequency) / (frequency + flat + slope * length))
    }
  }

  #count({ counts, terms, length }: IndexedText, by: 1 | -1): void {
    if (!counts) return
    for (const list of terms) list.counted += by
    this.#totalLength += length * by
    this.#documents += by
  }
}

function exactName(text: string): string {
  return text.slice(0, 300).normalize('NFKC').trim().toLowerCase()
}
