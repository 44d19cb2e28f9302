import { indexedFields, mapFields } from '../../../schemas/entry-fields.ts'
import type { Facets, Filter, Hit, Hits, IndexQuery, Sort } from '../search-index.ts'
import type { AttributeFilter, AttributeName } from '../vectors/attributes.ts'
import { takeBest } from './best.ts'
import { confidenceOf } from './confidence.ts'
import type { DocumentTable } from './document-table.ts'
import { productsIn, showEveryProduct } from './every-product.ts'
import { explain } from './explain.ts'
import { fuse } from './fusion.ts'
import type { Likeness, Meaning } from './meaning.ts'
import type { PositionedSlot } from './order.ts'
import type { QueryReaderOptions, Reading } from './query-reader.ts'
import { Scoreboard } from './scoreboard.ts'
import { maxTotalOf, type WeighedTerm } from './text-index.ts'
import { compareWords } from './words/like-words.ts'

export type Passes = (slot: number) => boolean

/** What a search ranks: the whole index, or the candidates that another engine chose. */
export interface Corpus {
  readonly table: DocumentTable
  /** Called before the ranking with what is near in meaning. True if the table has changed since its words were scored. */
  hasChanged(likeness: Likeness | undefined): boolean | Promise<boolean>
  /** Number of entries and values of the whole result, of which `passes` holds for those of the table. */
  total(board: Scoreboard): number
  facets(passes: Passes): Facets
}

/** Number of best entries by words whose meaning is compared even if they are not among the nearest. */
const namedDepth = 20

/** Number of best entries whose words are compared one by one. */
const comparedDepth = 16

/** Number of best hits, one of which fits if any does. */
const decisiveHits = 3

/** Ranks entries by words and meaning. */
export class Ranker {
  readonly #boards: Scoreboard[] = []
  readonly #meaning: () => Meaning | undefined
  readonly #onError: (fault: unknown) => void

  constructor({
    meaning = () => undefined,
    onError = () => {},
  }: Pick<QueryReaderOptions, 'meaning' | 'onError'>) {
    this.#meaning = meaning
    this.#onError = onError
  }

  /** The best entries of a corpus for a query that was read. */
  async rank(
    corpus: Corpus,
    reading: Reading,
    sort: Sort,
    query: IndexQuery,
    signal: AbortSignal,
  ): Promise<Hits> {
    const board = this.#boards.pop() ?? new Scoreboard()
    try {
      const found = await this.#rank(corpus, reading, sort, query, board, signal)
      return { ...found, ...(reading.corrected && { corrected: reading.corrected }) }
    } finally {
      this.#boards.push(board)
    }
  }

  async #rank(
    corpus: Corpus,
    reading: Reading,
    sort: Sort,
    query: IndexQuery,
    board: Scoreboard,
    signal: AbortSignal,
  ): Promise<Hits> {
    const { table } = corpus
    const { filter, limit, after, facets, min_score = 0, words_only = false } = query
    let { terms, named } = scoreWords(table, reading, filter, board)
    const meaning = words_only || terms.length === 0 ? undefined : this.#meaning()
    const { likeness, degraded } = await this.#compare(table, meaning, reading.meant, filter, board, signal)
    if (await corpus.hasChanged(likeness)) ({ terms, named } = scoreWords(table, reading, filter, board))

    const maxScore = maxTotalOf(terms)
    const { texts, attributes, ordered, capacity, weights } = table
    const { marks, mark } = attributes.select(filter, capacity)
    const slotOf = (id: string) => {
      const slot = table.slotOf(id)
      return slot !== undefined && marks[slot] === mark ? slot : undefined
    }
    const adjustments = texts.adjust(reading.request.excluded, reading.directions)
    const likeWords = () => likeWordsOf(table, reading, terms, named, board, meaning)
    const parts = fuse({ board, maxScore, likeness, slotOf, weights, adjustments, named, likeWords })
    const wordsOfRaised = new Map<number, number>()
    const lexical = (slot: number, id: string) => wordsOfRaised.get(slot) ?? parts.lexicalOf(slot, id)
    const describe = (slot: number) => table.at(slot)
    const folded = table.groups.fold(board, describe, (slot) =>
      wordsOfRaised.set(slot, parts.lexicalOf(slot, describe(slot).id)),
    )
    showEveryProduct(board, productsIn(reading, terms), describe, decisiveHits)
    if (min_score > 0) board.keepFrom(min_score)
    const passes: Passes = (slot) => board.scores[slot] !== 0
    const page =
      sort === 'relevance'
        ? takeBest(board, describe, limit, after)
        : ordered[sort].take(limit, after, passes)
    const whyOf = (slot: number) => {
      const document = describe(slot)
      const near = likeness?.near.get(document.id)
      const entry = {
        slot,
        document,
        likeWords: parts.likeWordsOf(slot),
        termsOfCapabilities: () => texts.capabilitiesOf(slot),
      }
      return explain(entry, terms, lexical(slot, document.id), near, adjustments.get(slot))
    }
    /** A hit has the score of the best of its entries, and so its confidence. */
    const reasonOf = ({ slot }: PositionedSlot) => {
      const why = whyOf(slot)
      const others = (folded.get(slot) ?? []).map((other) => confidenceOf(whyOf(other), named.has(other)))
      return { why, confidence: Math.max(confidenceOf(why, named.has(slot)), ...others) }
    }
    const hits = page.map((found) => ({
      id: found.position.id,
      score: board.scoreOf(found.slot),
      position: found.position,
      ...reasonOf(found),
      ...alternativesOf(folded.get(found.slot), describe),
    }))
    const hasBest = sort === 'relevance' && !after && limit >= decisiveHits
    const best = hasBest
      ? hits.slice(0, decisiveHits)
      : takeBest(board, describe, decisiveHits, undefined).map(reasonOf)
    return {
      hits,
      total: corpus.total(board),
      confidence: Math.max(0, ...best.map(({ confidence }) => confidence)),
      ...(facets && { facets: corpus.facets(passes) }),
      ...(degraded !== undefined && { degraded }),
    }
  }

  async #compare(
    table: DocumentTable,
    meaning: Meaning | undefined,
    text: string,
    filter: Filter,
    board: Scoreboard,
    signal: AbortSignal,
  ): Promise<{ likeness?: Likeness; degraded?: string }> {
    if (!meaning) return {}
    const named = takeBest(board, (slot) => table.at(slot), namedDepth, undefined)
    try {
      const ids = named.map(({ position }) => position.id)
      const likeness = await meaning.compare(text, toVectorFilter(filter), ids, signal)
      return likeness ? { likeness } : {}
    } catch (fault) {
      signal.throwIfAborted()
      // Another model may have replaced this one during the call.
      const now = this.#meaning()
      if (now !== meaning) return this.#compare(table, now, text, filter, board, signal)
      this.#onError(fault)
      return { degraded: 'Search by meaning is not available; these agents were found by their words.' }
    }
  }
}

/** Puts the lexical scores of the entries that meet the filter on the board; returns also who is named exactly so. */
function scoreWords(
  { texts, attributes, capacity }: DocumentTable,
  { text, terms, foreign }: Reading,
  filter: Filter,
  board: Scoreboard,
): { terms: WeighedTerm[]; named: ReadonlySet<number> } {
  const weighed = texts.weigh(terms)
  if (foreign) {
    const lists = new Set(weighed.map(({ list }) => list))
    weighed.push(...texts.weigh(foreign).filter(({ list }) => list.size > 0 && !lists.has(list)))
  }
  board.reset(capacity)
  const named = new Set(texts.namedBy(text))
  texts.score(weighed, named, board, attributes.select(filter, capacity))
  return { terms: weighed, named }
}

/**
 * How like the words of the best entries on the board, without those of an exact name, are to those of the query.
 * Undefined for a query whose words the model does not have at hand.
 */
function likeWordsOf(
  table: DocumentTable,
  { terms }: Reading,
  weighed: readonly WeighedTerm[],
  named: ReadonlySet<number>,
  board: Scoreboard,
  meaning: Meaning | undefined,
): ReadonlyMap<number, number> | undefined {
  // Those of other languages come after the terms, and have none of these vectors.
  const query = terms.map(({ words: [word = ''], share = 1 }, at) => ({
    word,
    share,
    isIn: (slot: number) => weighed[at]?.list.has(slot) ?? false,
  }))
  const { texts } = table
  const compare = meaning?.wordVectors && compareWords(query, meaning.wordVectors, texts.words)
  if (!compare) return undefined
  const best = takeBest(board, (slot) => table.at(slot), comparedDepth, undefined)
  return new Map(
    best
      .filter(({ slot }) => !named.has(slot))
      .map(({ slot }) => [
        slot,
        compare({ slot, document: table.at(slot), words: () => texts.ownWordsOf(slot) }),
      ]),
  )
}

function alternativesOf(
  slots: readonly number[] | undefined,
  describe: (slot: number) => { readonly id: string },
): Pick<Hit, 'alternatives'> {
  return slots ? { alternatives: slots.map((slot) => describe(slot).id) } : {}
}

/** The filters that vectors support; a published field that they lack does not compile. */
const vectorFields = ['state', 'owner', ...indexedFields] as const satisfies readonly AttributeName[]

/** The part of the filter that vectors support. Entries that do not meet the rest are dropped when scores are fused. */
function toVectorFilter(filter: Filter): AttributeFilter {
  const present = vectorFields.filter((name) => filter[name] !== undefined)
  return mapFields(present, (name) => filter[name]) as AttributeFilter
}
