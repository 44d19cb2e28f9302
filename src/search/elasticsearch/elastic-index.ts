import { LRUCache } from 'lru-cache'
import { facets as facetFields, facetNames } from '../../../schemas/entry-fields.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import { conditionsOf, maxFacetValues } from '../index/attribute-index.ts'
import { DocumentTable } from '../index/document-table.ts'
import { allIn, exactName } from '../index/exact-names.ts'
import { listed } from '../index/explain.ts'
import { withChoices } from '../index/facet-choices.ts'
import type { Likeness } from '../index/meaning.ts'
import { fold, gramLength, maxCharacters } from '../index/name-index.ts'
import { textAndSort } from '../index/order.ts'
import { QueryReader, type QueryReaderOptions, type Reading } from '../index/query-reader.ts'
import { type Corpus, type Passes, Ranker } from '../index/ranker.ts'
import type { Scoreboard } from '../index/scoreboard.ts'
import { absenceOf } from '../query/absences.ts'
import { endsOf, reversed } from '../query/directions.ts'
import { type QueryTerm, readQuery } from '../query/query-terms.ts'
import type {
  EntryChange,
  Facets,
  Filter,
  Hits,
  IndexQuery,
  Position,
  SearchIndex,
  Sort,
} from '../search-index.ts'
import {
  type EngineDocument,
  engineForm,
  engineProperties,
  gramsOf,
  termsOfStored,
  toEngineDocument,
  unreadFields,
} from './engine-document.ts'
import { EngineStatistics } from './engine-statistics.ts'
import { type EngineHit, type EngineUse, noState, type SearchAnswer, TailedIndex } from './tailed-index.ts'

interface ElasticIndexOptions extends QueryReaderOptions, EngineUse {}

/** Candidates by words of the first page of a text, and of the others: a text has no more pages than that. */
const firstCandidates = 100
const maxCandidates = 1000
/** Exceeds every score of words. */
const nameBoost = 1000
/** Ids whose state is known since their last change. */
const maxKnown = 20_000
/** Values that each shard counts: the counts are exact unless a field has more. */
const shardFacetValues = 1000
/** Completions that are compared for each beginning of one that was asked for. */
const completionDepth = 100

/**
 * An index in Elasticsearch. The engine chooses candidates by our terms and counts; the code of the index in memory
 * ranks and explains them with the statistics of the whole index. Throws Failure `unavailable` while the engine cannot
 * be asked.
 */
export function createElasticIndex(options: ElasticIndexOptions): SearchIndex {
  return new ElasticIndex(options)
}

class ElasticIndex implements SearchIndex {
  readonly #index: TailedIndex
  readonly #statistics: EngineStatistics
  readonly #reader: QueryReader
  readonly #ranker: Ranker
  readonly #isRight: (word: string) => boolean
  readonly #listed = new LRUCache<string, boolean>({ max: maxKnown })

  constructor({ onError = () => {}, ...options }: ElasticIndexOptions) {
    const form = `entries-${engineForm}`
    this.#index = new TailedIndex({
      ...options,
      form,
      properties: engineProperties,
      unread: unreadFields,
      onError,
    })
    this.#statistics = new EngineStatistics(this.#index)
    this.#reader = new QueryReader({ ...options, onError })
    this.#ranker = new Ranker({ ...options, onError })
    const { meaning, synonyms, dictionary } = options
    this.#isRight = (word) =>
      synonyms?.has(word) || dictionary?.has(word) || (meaning?.()?.words?.list.countOf(word) ?? 0) > 0
  }

  get applied_revision(): number {
    return this.#index.applied_revision
  }

  lists(id: string): boolean | undefined {
    return this.#listed.get(id)
  }

  async apply(changes: readonly EntryChange[], revision: number): Promise<void> {
    const sources = changes.map(({ id, document }) => ({
      id,
      source: () => document && toEngineDocument(document),
    }))
    try {
      await this.#index.apply(sources, revision)
      for (const { id, document } of changes) this.#listed.set(id, document?.state === 'ACTIVE')
    } finally {
      this.#statistics.clear()
    }
  }

  async discard(): Promise<void> {
    await this.#index.discard()
    this.#listed.clear()
    this.#statistics.clear()
  }

  async complete(text: string, limit: number): Promise<string[]> {
    const folded = fold(text.slice(0, maxCharacters))
    if (folded === '') return []
    const places: JsonObject[] = [
      { prefix: { 'completion.name': folded } },
      { prefix: { 'completion.words': folded } },
    ]
    if (folded.length >= gramLength) {
      const grams = gramsOf(folded).map((gram) => ({ term: { 'completion.grams': gram } }))
      places.push({ bool: { filter: grams } })
    }
    const { signal } = new AbortController()
    const found = await Promise.all(
      places.map((query) =>
        this.#ask(
          {
            query: { bool: { filter: [query] } },
            size: Math.max(limit, completionDepth),
            sort: [{ 'completion.rank': 'asc' }],
            _source: ['document'],
          },
          signal,
        ),
      ),
    )
    const table = new DocumentTable()
    for (const { hits } of found) addHits(table, hits.hits, new Set())
    return (await table.names.complete(text, limit)).map((slot) => table.at(slot).id)
  }

  search(query: IndexQuery, signal: AbortSignal): Promise<Hits> {
    return withChoices(query, (each) => this.#search(each, signal))
  }

  async #search(query: IndexQuery, signal: AbortSignal): Promise<Hits> {
    signal.throwIfAborted()
    const { text, sort } = textAndSort(query)
    if (text === '' && sort !== 'relevance') return await this.#list(sort, query, signal)
    const vocabulary = await this.#statistics.vocabularyOf(text, this.#isRight, signal)
    const reading = await this.#reader.read(text, query, vocabulary, signal)
    const candidates = await this.#candidates(reading, sort, query, signal)
    return await this.#ranker.rank(candidates, reading, sort, query, signal)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#index[Symbol.asyncDispose]()
  }

  async #list(sort: Exclude<Sort, 'relevance'>, query: IndexQuery, signal: AbortSignal): Promise<Hits> {
    const { filter, limit, after, facets } = query
    const answer = await this.#ask(
      {
        query: matching(filter),
        size: limit,
        track_total_hits: true,
        ...inOrder(sort, after),
        ...(facets && { aggs: facetCounts }),
        _source: ['newest', 'name', 'tie'],
      },
      signal,
    )
    const hits = (answer.hits.hits as unknown as EngineHit<Ordered>[]).map(({ _id: id, _source }) => {
      const { newest, name, tie } = _source
      const position = { key: sort === 'newest' ? newest : name, tie, id }
      return { id, score: 0, why: listed, position }
    })
    return { hits, total: totalOf(answer), ...(facets && { facets: facetsOf(answer) }) }
  }

  async #candidates(
    reading: Reading,
    sort: Sort,
    query: IndexQuery,
    signal: AbortSignal,
  ): Promise<Candidates> {
    const { filter, limit, after, facets } = query
    const all = [...reading.terms, ...(reading.foreign ?? [])]
    const isDeep = sort === 'relevance' && (after !== undefined || limit > firstCandidates / 2)
    const table = new DocumentTable()
    const [statistics, answer] = await Promise.all([
      this.#statistics.of(all, reading.text, signal),
      this.#ask(
        {
          query: matching(filter, havingWords(reading.text, all)),
          size: isDeep ? maxCandidates : firstCandidates,
          track_total_hits: true,
          ...(facets && { aggs: facetCounts }),
          _source: sourceFields,
        },
        signal,
      ),
    ])
    table.texts.larger = statistics
    const relevant = relevantTerms(reading, all)
    addHits(table, answer.hits.hits, relevant)
    const total = totalOf(answer)
    if (sort !== 'relevance' && total > answer.hits.hits.length) {
      const body = { ...inOrder(sort, after), query: matching(filter, havingWords(reading.text, all)) }
      const page = await this.#ask({ ...body, size: limit, _source: sourceFields }, signal)
      addHits(table, page.hits.hits, relevant)
    }
    const isWhole = total <= answer.hits.hits.length || (query.min_score ?? 0) > 0
    const whole = isWhole ? undefined : { total, facets: facets ? facetsOf(answer) : undefined }
    const words = new Set(all.map(({ term }) => term))
    return new Candidates(table, whole, async (ids) => {
      const query = { bool: { ...matching(filter).bool, must: [{ ids: { values: ids } }] } }
      const found = await this.#ask({ query, size: ids.length, _source: sourceFields }, signal)
      return addHits(table, found.hits.hits, relevant, words)
    })
  }

  async #ask(body: JsonObject, signal: AbortSignal): Promise<SearchAnswer<EngineDocument>> {
    return (await this.#index.search(body, signal)) as SearchAnswer<EngineDocument>
  }
}

/** What orders a list. */
interface Ordered {
  readonly newest: number
  readonly name: string
  readonly tie: string
}

/** All entries with the words, where more have them than are candidates. */
interface Whole {
  readonly total: number
  readonly facets: Facets | undefined
}

/** The candidates of one search; the entries that are near in meaning join them. */
class Candidates implements Corpus {
  readonly table: DocumentTable
  readonly #whole: Whole | undefined
  /** Adds entries to the table, and returns those without the words. */
  readonly #add: (ids: readonly string[]) => Promise<readonly string[]>
  readonly #wordless = new Set<number>()

  constructor(
    table: DocumentTable,
    whole: Whole | undefined,
    add: (ids: readonly string[]) => Promise<readonly string[]>,
  ) {
    this.table = table
    this.#whole = whole
    this.#add = add
  }

  async hasChanged(likeness: Likeness | undefined): Promise<boolean> {
    const { table } = this
    const missing = [...(likeness?.near.keys() ?? [])].filter((id) => table.slotOf(id) === undefined)
    if (missing.length === 0) return false
    for (const id of await this.#add(missing)) this.#wordless.add(table.slotOf(id) ?? -1)
    return true
  }

  total(board: Scoreboard): number {
    if (!this.#whole) return board.size
    return this.#whole.total + [...this.#wordless].filter((slot) => board.scores[slot] !== 0).length
  }

  facets(passes: Passes): Facets {
    const { attributes: values } = this.table
    if (!this.#whole?.facets) return values.facets(passes)
    return sumOf(
      this.#whole.facets,
      values.facets((slot) => this.#wordless.has(slot) && passes(slot)),
    )
  }
}

const sourceFields = ['document', 'terms', 'length', 'own_words']

/** Adds what was found to a table, each once. Returns the ids of those that have none of the words. */
function addHits(
  table: DocumentTable,
  hits: readonly EngineHit<EngineDocument>[],
  relevant: ReadonlySet<string>,
  words: ReadonlySet<string> = relevant,
): string[] {
  return hits.flatMap(({ _id, _source }) => {
    if (table.slotOf(_id) !== undefined) return []
    const { terms = [], own_words = '' } = _source
    const read = termsOfStored({ ..._source, terms, own_words }, relevant)
    table.add(_source.document, read)
    return [...read.frequencies.keys()].some((term) => words.has(term)) ? [] : _id
  })
}

/** The terms of candidates that rank and explain them. */
function relevantTerms({ request, directions }: Reading, terms: readonly QueryTerm[]): Set<string> {
  const both = [...directions].flatMap((direction) => [direction, reversed(direction)])
  const converting = both.flatMap((direction) => [direction, ...endsOf(direction)])
  const excluded = request.excluded === '' ? [] : readQuery(request.excluded).map(({ term }) => term)
  return new Set([...terms.map(({ term }) => term), ...excluded, ...excluded.map(absenceOf), ...converting])
}

/** The query for entries that meet the filter, and have words. */
function matching(filter: Filter, words: readonly JsonObject[] = []) {
  const conditions = conditionsOf(filter).map(([attribute, value]): JsonObject => {
    const field = `values.${attribute}`
    return typeof value === 'string' ? { term: { [field]: value } } : { terms: { [field]: value } }
  })
  return {
    bool: {
      must_not: [noState],
      filter: conditions,
      ...(words.length > 0 && { should: words, minimum_should_match: 1 }),
    },
  }
}

/** Clauses whose sum orders entries as our own scores of words do: BM25 over terms that occur as often as they weigh. */
function havingWords(text: string, terms: readonly QueryTerm[]): JsonObject[] {
  const words = terms.map(({ term, count, share = 1 }) => ({
    term: { terms: { value: term, boost: share * Math.sqrt(count) } },
  }))
  const name = exactName(text)
  const named = { constant_score: { filter: { terms: { names: [name, allIn(name)] } }, boost: nameBoost } }
  return [...words, named]
}

function inOrder(sort: Exclude<Sort, 'relevance'>, after: Position | undefined): JsonObject {
  const first = sort === 'newest' ? { newest: 'desc' } : { name: 'asc' }
  return {
    sort: [first, { tie: 'asc' }, { id: 'asc' }],
    ...(after && { search_after: [after.key, after.tie ?? '', after.id] }),
  }
}

const facetCounts: JsonObject = Object.fromEntries(
  facetNames.map((name) => [
    name,
    {
      terms: {
        field: `values.${facetFields[name]}`,
        size: maxFacetValues,
        shard_size: shardFacetValues,
        order: [{ _count: 'desc' }, { _key: 'asc' }],
      },
    },
  ]),
)

function facetsOf({ aggregations = {} }: SearchAnswer<unknown>): Facets {
  const counts = facetNames.map((name) => {
    const buckets = aggregations[name]?.buckets ?? []
    return [name, Object.fromEntries(buckets.map(({ key, doc_count }) => [key, doc_count]))]
  })
  return Object.fromEntries(counts) as Facets
}

function sumOf(left: Facets, right: Facets): Facets {
  const sums = facetNames.map((name) => {
    const counts = new Map(Object.entries(left[name]))
    for (const [value, count] of Object.entries(right[name]))
      counts.set(value, (counts.get(value) ?? 0) + count)
    return [
      name,
      Object.fromEntries([...counts].sort((first, second) => second[1] - first[1]).slice(0, maxFacetValues)),
    ]
  })
  return Object.fromEntries(sums) as Facets
}

function totalOf({ hits }: SearchAnswer<unknown>): number {
  return hits.total?.value ?? 0
}
