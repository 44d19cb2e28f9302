import { IntegerLists } from '../../common/integer-lists.ts'
import { PostingList, Postings } from '../../common/postings.ts'
import type { Pieces, Sections } from '../../common/sections.ts'
import { SlotLists } from '../../common/slot-lists.ts'
import { inSlices } from '../../common/time-slices.ts'
import type { Selection } from '../../common/value-index.ts'
import { absenceOf } from '../query/absences.ts'
import { type Direction, endsOf, reversed } from '../query/directions.ts'
import { type QueryTerm, readQuery } from '../query/query-terms.ts'
import type { SearchDocument } from '../search-index.ts'
import { isSpellable, WordList } from '../spelling/word-list.ts'
import { type CapabilityTerms, pairTerms } from './capability-terms.ts'
import { nameWeight, readDocument } from './document-terms.ts'
import { allIn, exactName, exactNamesOf, hashOf, mayBeNamespace, type NameHash } from './exact-names.ts'
import {
  type IndexedText,
  packText,
  unpackCapabilities,
  unpackNames,
  unpackOwnWords,
  unpackText,
} from './packed-text.ts'
import type { Scoreboard } from './scoreboard.ts'

/** Factors of a score by what the query excludes and by the direction that it asks for. */
export type Adjustment = Readonly<Partial<Record<'excluded' | 'direction', number>>>

/** A term of a query; the list of an unknown term is empty. */
export interface WeighedTerm {
  readonly list: PostingList
  readonly words: ReadonlySet<string>
  readonly weight: number
}

/** Statistics of a larger index, of which a text index holds some documents; over the documents that count. */
export interface Statistics {
  readonly documents: number
  readonly total_length: number
  /** Number of documents with a term. */
  countOf(term: string): number
  /** True for the exact name of a document. */
  isName(text: string): boolean
}

/** Saturation of term frequency and strength of length normalisation (Robertson and Zaragoza 2009). */
const k1 = 1.2
const b = 0.75
const excludedName = 0.25
const excludedText = 0.6
const sameDirection = 1.15
const oppositeDirection = 0.75
const oppositeName = 0.6
const unknown = new PostingList('', -1)

/**
 * BM25F over the live documents, by slot. Scores are exact after every change. Only ACTIVE documents count in the
 * statistics, so that no score reveals the content of a hidden one.
 */
export class TextIndex {
  #terms = new Postings()
  /** Slots by the first halves of the hashes of their exact names: the names would take five times the memory. */
  readonly #names = new SlotLists<number>()
  /** The words of the documents as they are written. */
  words = new WordList()
  /** The numbers of each document: see `packText`. */
  #texts = new IntegerLists()
  #lengths: number[] = []
  #totalLength = 0
  #documents = 0
  /** Replaces the statistics of these documents. */
  larger: Statistics | undefined

  /** Restores what `save` returned. Throws for other content. */
  static async load(sections: Sections): Promise<TextIndex> {
    const index = new TextIndex()
    index.#terms = await Postings.load(sections, 'terms')
    index.words = await WordList.load(sections)
    index.#texts = await IntegerLists.load(sections, 'texts')
    index.#lengths = Array.from(await sections.integers('lengths'))
    await inSlices(index.#lengths.keys(), (slot) => index.#addNames(slot))
    const [totalLength = 0, documents = 0] = await sections.doubles('totals')
    index.#totalLength = totalLength
    index.#documents = documents
    return index
  }

  *save(): Pieces {
    yield* this.#terms.save('terms')
    yield* this.words.save()
    yield* this.#texts.save('texts')
    yield ['lengths', Uint32Array.from(this.#lengths, (length) => length ?? 0)]
    yield ['totals', Float64Array.of(this.#totalLength, this.#documents)]
  }

  add(slot: number, document: SearchDocument, read = readDocument(document)): void {
    const { frequencies, length, capabilities, words, own_words } = read
    const terms = Uint32Array.from(
      frequencies,
      ([term, frequency]) => this.#terms.add(term, slot, frequency).serial,
    )
    const names = exactNamesOf(document)
    this.#lengths[slot] = length
    const numbersOf = (found: Iterable<string>) =>
      Uint32Array.from([...found].filter(isSpellable).flatMap((word) => this.words.add(word) ?? [])).sort()
    const counts = document.state === 'ACTIVE'
    const text = {
      length,
      counts,
      terms: terms.sort(),
      capabilities: pairTerms(
        capabilities.map((words) => [...words].flatMap((word) => this.#terms.get(word) ?? [])),
      ),
      names: Uint32Array.from([...names].flatMap(hashOf)),
      own_words: numbersOf(own_words),
      // Those of hidden documents correct no query, and the list has an end.
      other_words: numbersOf(counts ? [...words].filter((word) => !own_words.has(word)) : []),
    }
    this.#count(text, 1)
    this.#texts.set(slot, packText(text))
    this.#addNames(slot)
  }

  remove(slot: number): void {
    const text = this.#textOf(slot)
    this.#count(text, -1)
    for (const serial of text.terms) this.#terms.remove(this.#terms.at(serial), slot)
    for (let at = 0; at < text.names.length; at += 2) this.#names.remove(keyOf(text.names[at]), slot)
    for (const word of [...text.own_words, ...text.other_words]) this.words.remove(word)
    this.#texts.delete(slot)
  }

  /** The terms of the capabilities of a document; valid until the next change. */
  capabilitiesOf(slot: number): CapabilityTerms {
    return unpackCapabilities(this.#texts.at(slot))
  }

  /** The words of a document that are compared one by one, by their numbers in `words`. */
  ownWordsOf(slot: number): Uint32Array {
    return unpackOwnWords(this.#texts.at(slot))
  }

  /** True if a document that counts has the term. */
  has(term: string): boolean {
    return this.#countOf(term) > 0
  }

  /** True if the text is the exact name of a document that counts. */
  isName(text: string): boolean {
    const name = exactName(text)
    return this.#isCounted(name, this.#named(name))
  }

  /** Weighs the terms by rarity and by the root of their count in the query; an unknown term counts as the rarest. */
  weigh(terms: readonly QueryTerm[]): WeighedTerm[] {
    const documents = this.larger?.documents ?? this.#documents
    return terms.map(({ term, words, count, share = 1 }) => {
      const list = this.#terms.get(term) ?? unknown
      const counted = this.#countOf(term)
      const rarity = Math.log(1 + (documents - counted + 0.5) / (counted + 0.5))
      return { list, words, weight: share * rarity * Math.sqrt(count) }
    })
  }

  /**
   * Adds the score of every selected document with one of the terms. That of a document whose exact name is meant, one
   * of `named`, exceeds every score of words.
   */
  score(terms: readonly WeighedTerm[], named: Iterable<number>, board: Scoreboard, among: Selection): void {
    const { total_length = this.#totalLength, documents = this.#documents } = this.larger ?? {}
    const average = total_length / documents || 1
    for (const term of terms) this.#scoreTerm(term, average, board, among)
    const maxTotal = maxTotalOf(terms)
    const { marks, mark } = among
    for (const slot of named) if (marks[slot] === mark) board.add(slot, maxTotal)
  }

  /**
   * Factors of the score of documents that hold what a query excludes, in their names or elsewhere, unless they say that
   * they do without it, or that convert in the direction that it asks for, or only in the opposite one, or by their names
   * out of what it wants or into what it has.
   */
  adjust(excluded: string, directions: ReadonlySet<Direction>): Map<number, Adjustment> {
    const adjustments = new Map<number, Adjustment>()
    const note = (term: string, factorOf: (weight: number, slot: number) => Adjustment) => {
      const list = this.#terms.get(term)
      for (let index = 0; list && index < list.size; index++) {
        const slot = list.slots[index] ?? 0
        adjustments.set(slot, { ...factorOf(list.weights[index] ?? 0, slot), ...adjustments.get(slot) })
      }
    }
    for (const direction of directions) {
      note(direction, () => ({ direction: sameDirection }))
      const right = endsOf(direction).map((end) => this.#terms.get(end))
      const isRight = (slot: number) => right.some((list) => list?.has(slot))
      for (const end of endsOf(reversed(direction)))
        note(end, (_, slot) => (isRight(slot) ? {} : { direction: oppositeName }))
      note(reversed(direction), () => ({ direction: oppositeDirection }))
    }
    if (excluded === '') return adjustments
    const terms = readQuery(excluded).map(({ term }) => term)
    const absences = terms.flatMap((term) => this.#terms.get(absenceOf(term)) ?? [])
    const doesWithout = (slot: number) => absences.some((list) => list.has(slot))
    for (const term of terms)
      note(term, (weight, slot) =>
        doesWithout(slot) ? {} : { excluded: weight < nameWeight ? excludedText : excludedName },
      )
    return adjustments
  }

  /** The slots of the documents that are named exactly like the text, or are in the namespace of that name. */
  namedBy(text: string): number[] {
    const name = exactName(text)
    const exact = this.#named(name)
    if (!mayBeNamespace(name) || this.#isCounted(name, exact)) return exact
    return [...exact, ...this.#named(allIn(name))]
  }

  #named(name: string): number[] {
    const hash = hashOf(name)
    return this.#names.at(keyOf(hash[0])).filter((slot) => this.#hasName(slot, hash))
  }

  #isCounted(name: string, exact: readonly number[]): boolean {
    return this.larger?.isName(name) ?? exact.some((slot) => this.#textOf(slot).counts)
  }

  #hasName(slot: number, [first, second]: NameHash): boolean {
    const names = unpackNames(this.#texts.at(slot))
    for (let at = 0; at < names.length; at += 2)
      if (names[at] === first && names[at + 1] === second) return true
    return false
  }

  #addNames(slot: number): void {
    const names = unpackNames(this.#texts.at(slot))
    for (let at = 0; at < names.length; at += 2) this.#names.add(keyOf(names[at]), slot)
  }

  #textOf(slot: number): IndexedText {
    return unpackText(this.#texts.at(slot))
  }

  #countOf(term: string): number {
    return this.larger?.countOf(term) ?? this.#terms.get(term)?.counted ?? 0
  }

  #scoreTerm({ list, weight }: WeighedTerm, average: number, board: Scoreboard, among: Selection): void {
    const { marks, mark } = among
    const { slots, weights: frequencies, size } = list
    // `board.add` for each slot, in local variables: fields that are read and written each time are slower.
    const lengths = this.#lengths
    const { scores, slots: found } = board
    let { size: foundSize, highest } = board
    const flat = k1 * (1 - b)
    const slope = (k1 * b) / average
    for (let index = 0; index < size; index++) {
      const slot = slots[index] ?? 0
      if (marks[slot] !== mark) continue
      const frequency = frequencies[index] ?? 0
      const before = scores[slot] ?? 0
      const sum = before + (weight * frequency) / (frequency + flat + slope * (lengths[slot] ?? 0))
      if (before === 0) found[foundSize++] = slot
      scores[slot] = sum
      if (sum > highest) highest = sum
    }
    board.size = foundSize
    board.highest = highest
  }

  #count({ counts, terms, length, own_words, other_words }: IndexedText, by: 1 | -1): void {
    if (!counts) return
    for (const word of own_words) this.words.count(word, by)
    for (const word of other_words) this.words.count(word, by)
    for (const serial of terms) this.#terms.at(serial).counted += by
    this.#totalLength += length * by
    this.#documents += by
  }
}

/** The maximum score of an entry by the words of a query, reached if it has all of them. */
export function maxTotalOf(terms: readonly WeighedTerm[]): number {
  return terms.reduce((sum, term) => sum + term.weight, 0) || 1
}

/** Keys are signed: a larger integer would take memory of its own. */
function keyOf(half = 0): number {
  return half | 0
}
