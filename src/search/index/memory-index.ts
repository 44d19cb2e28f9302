import { facetNames, facets, filters } from '../../../schemas/entry-fields.ts'
import type { Correction } from '../../../schemas/search.ts'
import type { Pieces, Sections } from '../../common/sections.ts'
import { isEnglish, type QueryTerm, readQuery, termsOf, withSynonyms } from '../query/query-terms.ts'
import { type Request, readRequest } from '../query/request.ts'
import { noSynonyms, type Synonyms } from '../query/synonyms.ts'
import type {
  EntryChange,
  Facets,
  Filter,
  Hit,
  Hits,
  IndexQuery,
  SearchIndex,
  Sort,
} from '../search-index.ts'
import { correct, mayHaveErrors } from '../spelling/corrector.ts'
import type { AttributeFilter, AttributeName } from '../vectors/attributes.ts'
import { takeBest } from './best.ts'
import { confidenceOf } from './confidence.ts'
import { DocumentTable } from './document-table.ts'
import { explain, listed } from './explain.ts'
import { fuse } from './fusion.ts'
import type { Likeness, Meaning } from './meaning.ts'
import { checkPosition, type PositionedSlot } from './order.ts'
import { Scoreboard } from './scoreboard.ts'
import { maxTotalOf, type WeighedTerm } from './text-index.ts'

interface MemoryIndexOptions {
  /** The search by meaning, read at each search; without it, words alone decide. */
  readonly meaning?: () => Meaning | undefined
  /** What queries are also searched for. */
  readonly synonyms?: Synonyms
  /** True for a word that is right although neither an entry nor the model has it. */
  readonly isRight?: (word: string) => boolean
  /** Called when the search by meaning fails; the search continues without it. */
  readonly onError?: (fault: unknown) => void
}

/** How a query is understood. */
interface Reading {
  /** The text without misspellings. */
  readonly text: string
  readonly request: Request
  /** The terms of its intent in English, and those of synonyms. */
  readonly terms: readonly QueryTerm[]
  /** The terms of an intent in another language: those that entries have count too. */
  readonly foreign?: readonly QueryTerm[]
  /** The text for the search by meaning. */
  readonly meant: string
  readonly corrected?: readonly Correction[]
}

type Passes = (slot: number) => boolean

/** Number of best entries by words whose meaning is compared even if they are not among the nearest. */
const namedDepth = 20

/** Number of best hits, one of which fits if any does. */
const decisiveHits = 3

/** An index in memory: words, meaning and exact filters; a search sees every change applied before it. */
export function createMemoryIndex(options: MemoryIndexOptions = {}): SearchIndex {
  return new MemoryIndex(options)
}

/** Restores a saved index. Throws for other content. */
export async function restoreMemoryIndex(
  saved: Sections,
  options: MemoryIndexOptions = {},
): Promise<SearchIndex> {
  const table = await DocumentTable.load(saved)
  const [revision = 0] = await saved.doubles('revision')
  return new MemoryIndex(options, table, revision)
}

class MemoryIndex implements SearchIndex {
  applied_revision: number
  #table: DocumentTable
  /** Changes wait until it has settled. */
  #saving: Promise<void> | undefined
  /** Counts changes: scores computed at an earlier version are outdated. */
  #version = 0
  readonly #boards: Scoreboard[] = []
  readonly #meaning: () => Meaning | undefined
  readonly #synonyms: Synonyms
  readonly #isRight: (word: string) => boolean
  readonly #onError: (fault: unknown) => void

  constructor(
    {
      meaning = () => undefined,
      synonyms = noSynonyms,
      isRight = () => false,
      onError = () => {},
    }: MemoryIndexOptions,
    table = new DocumentTable(),
    revision = 0,
  ) {
    this.#table = table
    this.applied_revision = revision
    this.#meaning = meaning
    this.#synonyms = synonyms
    this.#isRight = isRight
    this.#onError = onError
  }

  lists(id: string): boolean {
    const slot = this.#table.slotOf(id)
    return slot !== undefined && this.#table.at(slot).state === 'ACTIVE'
  }

  async apply(changes: readonly EntryChange[], revision: number): Promise<void> {
    while (this.#saving !== undefined) await this.#saving
    this.#version++
    for (const { id, document } of changes) {
      this.#table.remove(id)
      if (document) this.#table.add(document)
    }
    this.applied_revision = revision
  }

  async save(write: (pieces: Pieces) => Promise<void>): Promise<void> {
    while (this.#saving !== undefined) await this.#saving
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#saving = promise
    try {
      await write(this.#pieces())
    } finally {
      this.#saving = undefined
      resolve()
    }
  }

  *#pieces(): Pieces {
    yield* this.#table.save()
    yield ['revision', Float64Array.of(this.applied_revision)]
  }

  async complete(text: string, limit: number): Promise<string[]> {
    const table = this.#table
    const slots = await table.names.complete(text, limit)
    return slots.map((slot) => table.at(slot).id)
  }

  async search(query: IndexQuery, signal: AbortSignal): Promise<Hits> {
    const found = await this.#search(query, signal)
    if (!found.facets || !query.facet_choices) return found
    return { ...found, facets: await this.#choices(found.facets, query, signal) }
  }

  /** The counts with those of each filtered field taken without its filter. A tag narrows other tags: all must match. */
  async #choices(counts: Facets, query: IndexQuery, signal: AbortSignal): Promise<Facets> {
    const chosen = facetNames.filter((name) => {
      const field = facets[name]
      return query.filter[field] !== undefined && filters[field].compare !== 'every'
    })
    const choices = { ...counts }
    for (const name of chosen) {
      const { [facets[name]]: _, ...filter } = query.filter
      const found = await this.#search({ ...query, filter, limit: 1 }, signal)
      choices[name] = found.facets?.[name] ?? {}
    }
    return choices
  }

  async #search(query: IndexQuery, signal: AbortSignal): Promise<Hits> {
    signal.throwIfAborted()
    const text = query.text?.trim() ?? ''
    const sort = text === '' && query.sort === 'relevance' ? 'newest' : query.sort
    if (query.after) checkPosition(query.after, sort)
    if (text === '' && sort !== 'relevance') return this.#list(sort, query)
    const reading = await this.#read(text, query, signal)
    const board = this.#boards.pop() ?? new Scoreboard()
    try {
      const found = await this.#find(reading, sort, query, board, signal)
      return { ...found, ...(reading.corrected && { corrected: reading.corrected }) }
    } finally {
      this.#boards.push(board)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#table = new DocumentTable()
  }

  #list(sort: Exclude<Sort, 'relevance'>, { filter, limit, after, facets }: IndexQuery): Hits {
    const { attributes, ordered, capacity } = this.#table
    const { marks, mark, total } = attributes.select(filter, capacity)
    const passes: Passes = (slot) => marks[slot] === mark
    const page = ordered[sort].take(limit, after, passes)
    const hits = page.map(({ position }) => ({ id: position.id, score: 0, why: listed, position }))
    return { hits, total, ...(facets && { facets: attributes.facets(passes) }) }
  }

  async #find(
    reading: Reading,
    sort: Sort,
    query: IndexQuery,
    board: Scoreboard,
    signal: AbortSignal,
  ): Promise<Hits> {
    const { filter, limit, after, facets, min_score = 0, words_only = false } = query
    let terms = this.#scoreWords(reading, filter, board)
    const version = this.#version
    const meaning = words_only || terms.length === 0 ? undefined : this.#meaning()
    const { likeness, degraded } = await this.#compare(meaning, reading.meant, filter, board, signal)
    if (version !== this.#version) terms = this.#scoreWords(reading, filter, board)

    const maxScore = maxTotalOf(terms)
    const { texts, attributes, ordered, capacity, weights } = this.#table
    const { marks, mark } = attributes.select(filter, capacity)
    const slotOf = (id: string) => {
      const slot = this.#table.slotOf(id)
      return slot !== undefined && marks[slot] === mark ? slot : undefined
    }
    const adjustments = texts.adjust(reading.request)
    const fused = fuse(board, maxScore, likeness, slotOf, weights, adjustments)
    const wordsOfRaised = new Map<number, number>()
    const lexical = (slot: number, id: string) => wordsOfRaised.get(slot) ?? fused(slot, id)
    const describe = (slot: number) => this.#table.at(slot)
    const folded = this.#table.groups.fold(board, describe, (slot) =>
      wordsOfRaised.set(slot, fused(slot, describe(slot).id)),
    )
    if (min_score > 0) board.keepFrom(min_score)
    const passes: Passes = (slot) => board.scores[slot] !== 0
    const page =
      sort === 'relevance'
        ? takeBest(board, board.scores, describe, limit, after)
        : ordered[sort].take(limit, after, passes)
    const reasonOf = ({ slot, position: { id } }: PositionedSlot) => {
      const near = likeness?.near.get(id)
      const entry = { slot, document: describe(slot), capabilityTerms: texts.capabilitiesOf(slot) }
      const why = explain(entry, terms, lexical(slot, id), near, adjustments.get(slot))
      return { why, confidence: confidenceOf(why, texts.isNamed(reading.text, slot)) }
    }
    const hits = page.map((found) => ({
      id: found.position.id,
      score: board.scores[found.slot] ?? 0,
      position: found.position,
      ...reasonOf(found),
      ...alternativesOf(folded.get(found.slot), describe),
    }))
    const hasBest = sort === 'relevance' && !after && limit >= decisiveHits
    const best = hasBest
      ? hits.slice(0, decisiveHits)
      : takeBest(board, board.scores, describe, decisiveHits, undefined).map(reasonOf)
    return {
      hits,
      total: board.size,
      confidence: Math.max(0, ...best.map(({ confidence }) => confidence)),
      ...(facets && { facets: attributes.facets(passes) }),
      ...(degraded !== undefined && { degraded }),
    }
  }

  /**
   * Turns words of other languages into English, corrects misspelt words and adds synonyms, unless the caller wants the exact words, or the text is a name. Owners
   * know the words of their own entries.
   */
  async #read(text: string, query: IndexQuery, signal: AbortSignal): Promise<Reading> {
    const { exact, filter, words_only } = query
    const { texts } = this.#table
    const request = readRequest(text)
    const { intent } = request
    const terms = readQuery(intent)
    if (exact || texts.isName(text)) return { text, request, terms, meant: intent }
    const english = await this.#inEnglish(words_only ? undefined : this.#meaning(), intent)
    if (english !== intent) {
      return { text, request, terms: readQuery(english), foreign: terms, meant: intent }
    }
    const spelling = {
      isRight: (word: string) => this.#synonyms.has(word) || this.#isRight(word),
      termOf: (word: string) => termsOf(word).find((term) => texts.has(term)),
      indexed: texts.words,
      model: this.#meaning()?.words,
    }
    const isPlain = filter.owner !== undefined || !mayHaveErrors(terms, spelling) || !isEnglish(text)
    const corrected = isPlain ? undefined : await correct(text, spelling, signal)
    if (!corrected) return this.#withSynonyms(text, request, terms)
    const meant = readRequest(corrected.text)
    const reading = this.#withSynonyms(corrected.text, meant, readQuery(meant.intent))
    return { ...reading, corrected: corrected.corrections }
  }

  #withSynonyms(text: string, request: Request, terms: readonly QueryTerm[]): Reading {
    const synonyms = this.#synonyms.expand(request.intent, terms)
    const meant = synonyms.length === 0 ? request.intent : [request.intent, ...synonyms].join(' ')
    return { text, request, terms: withSynonyms(terms, synonyms), meant }
  }

  /** The words to look for: those of the text, and English ones for words of other languages. */
  async #inEnglish(meaning: Meaning | undefined, text: string): Promise<string> {
    try {
      return (await meaning?.inEnglish(text)) ?? text
    } catch (fault) {
      this.#onError(fault)
      return text
    }
  }

  /** Puts the lexical scores of the entries that meet the filter on the board. */
  #scoreWords({ text, terms, foreign }: Reading, filter: Filter, board: Scoreboard): WeighedTerm[] {
    const { texts, attributes, capacity } = this.#table
    const weighed = texts.weigh(terms)
    if (foreign) {
      const lists = new Set(weighed.map(({ list }) => list))
      weighed.push(...texts.weigh(foreign).filter(({ list }) => list.size > 0 && !lists.has(list)))
    }
    board.reset(capacity)
    texts.score(text, weighed, board, attributes.select(filter, capacity))
    return weighed
  }

  async #compare(
    meaning: Meaning | undefined,
    text: string,
    filter: Filter,
    board: Scoreboard,
    signal: AbortSignal,
  ): Promise<{ likeness?: Likeness; degraded?: string }> {
    if (!meaning) return {}
    const named = takeBest(board, board.scores, (slot) => this.#table.at(slot), namedDepth, undefined)
    try {
      const ids = named.map(({ position }) => position.id)
      const likeness = await meaning.compare(text, toVectorFilter(filter), ids, signal)
      return likeness ? { likeness } : {}
    } catch (fault) {
      signal.throwIfAborted()
      // Another model may have replaced this one during the call.
      const now = this.#meaning()
      if (now !== meaning) return this.#compare(now, text, filter, board, signal)
      this.#onError(fault)
      return { degraded: 'Search by meaning is not available; these agents were found by their words.' }
    }
  }
}

function alternativesOf(
  slots: readonly number[] | undefined,
  describe: (slot: number) => { readonly id: string },
): Pick<Hit, 'alternatives'> {
  return slots ? { alternatives: slots.map((slot) => describe(slot).id) } : {}
}

/**
 * The part of the filter that vectors support. Entries that do not meet the rest are dropped when scores are fused. A
 * filter that neither is named here nor is an attribute of vectors does not compile.
 */
/** A field of entries that the vector stores lack does not compile here: its row belongs in ../vectors/attributes.ts. */
function toVectorFilter({
  live: _,
  deprecated: __,
  callable: ___,
  labels: ____,
  protocol: _____,
  publisher: ______,
  package_types: _______,
  verification_level: ________,
  ...filter
}: Filter): AttributeFilter {
  return filter satisfies {
    readonly [Name in keyof typeof filter]: Name extends AttributeName ? unknown : never
  }
}
