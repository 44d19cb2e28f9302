import type { JsonObject } from '../../../schemas/json.ts'
import { exactName } from '../index/exact-names.ts'
import type { Vocabulary } from '../index/query-reader.ts'
import type { Statistics } from '../index/text-index.ts'
import { joinedWords } from '../query/joined-words.ts'
import { type QueryTerm, readQuery, termsOf } from '../query/query-terms.ts'
import { readRequest } from '../query/request.ts'
import { formsOf } from '../spelling/corrector.ts'
import { WordList } from '../spelling/word-list.ts'
import type { TailedIndex } from './tailed-index.ts'

/** The fields whose values are counted. */
type Field = 'terms' | 'names' | 'words'
type Key = `${Field}:${string}`

/** Counts until the next change. */
interface Counts {
  readonly byKey: Map<Key, number>
  documents: number
  length: number
}

/** Similar words of the index for one misspelt word. */
const maxSimilar = 50
/** Values that one request counts. */
const maxCounted = 1000

/** The statistics of the listed entries in an index of the engine: exact, and asked anew after every change. */
export class EngineStatistics {
  readonly #index: TailedIndex
  #counts = noCounts()

  constructor(index: TailedIndex) {
    this.#index = index
  }

  /** Called after each change. */
  clear(): void {
    this.#counts = noCounts()
  }

  /** The statistics for a text with these terms. */
  async of(terms: readonly QueryTerm[], text: string, signal: AbortSignal): Promise<Statistics> {
    const keys = [...terms.map(({ term }): Key => `terms:${term}`), `names:${exactName(text)}` as const]
    const { byKey, documents, length } = await this.#count(keys, signal)
    return {
      documents,
      total_length: length,
      countOf: (term) => byKey.get(`terms:${term}`) ?? 0,
      isName: (name) => (byKey.get(`names:${name}`) ?? 0) > 0,
    }
  }

  /** What the reading of a text asks the index: its words, alone and joined, and those like the ones that are not right. */
  async vocabularyOf(
    text: string,
    isRight: (word: string) => boolean,
    signal: AbortSignal,
  ): Promise<Vocabulary> {
    const { intent } = readRequest(text)
    const read = readQuery(intent)
    const unknown = [...new Set(read.flatMap(({ words }) => [...words]))].filter((word) => !isRight(word))
    const forms = formsOf(text, unknown)
    const words =
      forms.length === 0 ? [] : [...new Set([...forms, ...(await this.#similar(unknown, signal))])]
    const terms = [...read.map(({ term }) => term), ...[...words, ...joinedWords(intent)].flatMap(termsOf)]
    const keys = [
      ...words.map((word): Key => `words:${word}`),
      ...terms.map((term): Key => `terms:${term}`),
      `names:${exactName(text)}` as const,
    ]
    const { byKey } = await this.#count(keys, signal)
    const list = new WordList()
    for (const word of words) {
      const count = byKey.get(`words:${word}`) ?? 0
      const id = count > 0 ? list.add(word) : undefined
      if (id !== undefined) list.count(id, count)
    }
    return {
      has: (term) => (byKey.get(`terms:${term}`) ?? 0) > 0,
      isName: (name) => (byKey.get(`names:${exactName(name)}`) ?? 0) > 0,
      words: list,
    }
  }

  /** Words of the index that differ from these by at most two letters. */
  async #similar(words: readonly string[], signal: AbortSignal): Promise<string[]> {
    const options = { field: 'words', suggest_mode: 'always', prefix_length: 0, size: maxSimilar }
    const suggest = Object.fromEntries(
      words.map((text, at) => [
        `word${at}`,
        { text, term: { ...options, max_edits: 2, min_word_length: 3 } },
      ]),
    )
    const { suggest: found = {} } = await this.#index.search({ size: 0, suggest }, signal)
    return Object.values(found).flatMap((entries) =>
      entries.flatMap(({ options: similar }) => similar.map(({ text }) => text)),
    )
  }

  async #count(keys: readonly Key[], signal: AbortSignal): Promise<Counts> {
    const counts = this.#counts
    const missing = [...new Set(keys)].filter((key) => !counts.byKey.has(key))
    for (let at = 0; at < missing.length; at += maxCounted) {
      const batch = missing.slice(at, at + maxCounted)
      const filters = batch.map((key) => {
        const colon = key.indexOf(':')
        return { term: { [key.slice(0, colon)]: key.slice(colon + 1) } }
      })
      const body: JsonObject = {
        size: 0,
        track_total_hits: true,
        query: { term: { 'values.state': 'ACTIVE' } },
        aggs: { length: { sum: { field: 'length' } }, counts: { filters: { filters } } },
      }
      const { hits, aggregations } = await this.#index.search(body, signal)
      counts.documents = hits.total?.value ?? 0
      counts.length = aggregations?.length?.value ?? 0
      for (const [index, key] of batch.entries())
        counts.byKey.set(key, aggregations?.counts?.buckets?.[index]?.doc_count ?? 0)
    }
    return counts
  }
}

function noCounts(): Counts {
  return { byKey: new Map(), documents: 0, length: 0 }
}
