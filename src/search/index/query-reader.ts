import type { Correction } from '../../../schemas/search.ts'
import { type Direction, directionsAsked, directionsOf, withConnectors } from '../query/directions.ts'
import { joinedWords } from '../query/joined-words.ts'
import { english, type Language } from '../query/languages.ts'
import { productsOf } from '../query/product-names.ts'
import {
  isEnglish,
  languageIn,
  type QueryTerm,
  readQuery,
  termsOf,
  withSynonyms,
} from '../query/query-terms.ts'
import { type Request, readRequest } from '../query/request.ts'
import { noSynonyms, type Synonyms } from '../query/synonyms.ts'
import type { IndexQuery } from '../search-index.ts'
import { correct, mayHaveErrors } from '../spelling/corrector.ts'
import type { Dictionary } from '../spelling/dictionary.ts'
import type { Meaning } from './meaning.ts'
import type { TextIndex } from './text-index.ts'

/** How a query is understood. */
export interface Reading {
  /** The text without misspellings. */
  readonly text: string
  readonly request: Request
  /** The directions that it asks for. */
  readonly directions: ReadonlySet<Direction>
  /** The terms of its intent in English, and those of synonyms. */
  readonly terms: readonly QueryTerm[]
  /** The terms of an intent in another language: those that entries have count too. */
  readonly foreign?: readonly QueryTerm[]
  /** The text for the search by meaning. */
  readonly meant: string
  readonly corrected?: readonly Correction[]
}

/** The names, terms and words of the listed entries. */
export type Vocabulary = Pick<TextIndex, 'has' | 'isName' | 'words'>

export interface QueryReaderOptions {
  /** The search by meaning, read at each search; without it, words alone decide. */
  readonly meaning?: () => Meaning | undefined
  /** What queries are also searched for. */
  readonly synonyms?: Synonyms
  /** Puts the words in which agents describe it in place of what people say. */
  readonly restate?: (text: string) => string
  readonly dictionary?: Dictionary
  /** Called when the search by meaning fails; the search continues without it. */
  readonly onError?: (fault: unknown) => void
}

const han = /\p{scx=Han}/u

const none: ReadonlySet<string> = new Set()

/** Reads what a query asks for and what it excludes, in the words that entries use. */
export class QueryReader {
  readonly #meaning: () => Meaning | undefined
  readonly #synonyms: Synonyms
  readonly #restate: (text: string) => string
  readonly #dictionary: Dictionary | undefined
  readonly #onError: (fault: unknown) => void

  constructor({
    meaning = () => undefined,
    synonyms = noSynonyms,
    restate = (text) => text,
    dictionary,
    onError = () => {},
  }: QueryReaderOptions) {
    this.#meaning = meaning
    this.#synonyms = synonyms
    this.#restate = restate
    this.#dictionary = dictionary
    this.#onError = onError
  }

  /**
   * Turns words of other languages and idioms into those that agents use, corrects misspelt words and adds synonyms,
   * unless the caller wants the exact words, or the text is a name. Owners know the words of their own entries.
   */
  async read(text: string, query: IndexQuery, vocabulary: Vocabulary, signal: AbortSignal): Promise<Reading> {
    const { exact, filter, words_only } = query
    const isAsWritten = exact || vocabulary.isName(text)
    const written = readRequest(isAsWritten || filter.owner !== undefined ? text : this.#restate(text))
    const language = languageIn(written.intent)
    const terms = readQuery(written.intent, language)
    if (isAsWritten) {
      const directions = directionsAsked(written.intent)
      return { text, request: written, directions, terms, meant: written.intent }
    }
    const meaning = words_only ? undefined : this.#meaning()
    const request = await this.#withOtherNames(written, terms, meaning)
    const foreign = await this.#readForeign({ text, request }, language, meaning, vocabulary)
    if (foreign) return foreign
    const spelling = {
      isRight: (word: string) => this.#synonyms.has(word) || (this.#dictionary?.has(word) ?? false),
      termOf: (word: string) => termsOf(word).find((term) => vocabulary.has(term)),
      indexed: vocabulary.words,
      model: this.#meaning()?.words,
      dictionary: this.#dictionary,
    }
    const isPlain = filter.owner !== undefined || !mayHaveErrors(terms, spelling) || !isEnglish(text)
    const corrected = isPlain ? undefined : await correct(text, spelling, signal)
    if (!corrected) return this.#withSynonyms(text, request, terms, vocabulary)
    const meant = readRequest(this.#restate(corrected.text))
    const meantTerms = readQuery(meant.intent)
    const excluding = await this.#withOtherNames(meant, meantTerms, meaning)
    const reading = this.#withSynonyms(corrected.text, excluding, meantTerms, vocabulary)
    return { ...reading, corrected: corrected.corrections }
  }

  /** A reading of the terms of a request, with the synonyms of what it is written in and the words that entries join. */
  #withSynonyms(
    text: string,
    request: Request,
    terms: readonly QueryTerm[],
    vocabulary: Vocabulary,
    written: readonly QueryTerm[] = terms,
  ): Reading {
    const { intent } = request
    const joined = joinedWords(intent).filter((word) => termsOf(word).some((term) => vocabulary.has(term)))
    const synonyms = this.#synonyms.expand(intent, written)
    const meant = [intent, ...synonyms, ...joined].join(' ')
    const directions = directionsAsked(intent)
    return { text, request, directions, terms: withSynonyms(terms, synonyms, joined), meant }
  }

  /** A request that excludes what it names by its other names as well: `k8s` and Kubernetes, Google in other scripts. */
  async #withOtherNames(
    request: Request,
    terms: readonly QueryTerm[],
    meaning: Meaning | undefined,
  ): Promise<Request> {
    const { intent, excluded } = request
    if (excluded === '') return request
    const names = this.#synonyms.expand(excluded, readQuery(excluded)).filter((name) => !name.includes(' '))
    // The characters of a Chinese name mean other words.
    const english = han.test(excluded) ? excluded : await this.#inEnglish(meaning, excluded, none)
    if (english !== excluded) names.push(...english.trim().split(/\s+/))
    names.push(...[excluded, ...names].flatMap((name) => name.split(' ')).flatMap(productsOf))
    const included = new Set(terms.map(({ term }) => term))
    const others = names.filter((name) => !termsOf(name).some((term) => included.has(term)))
    return { intent, excluded: [excluded, ...others].join(' ') }
  }

  /** The English words of a query in another language, and its own; undefined for an English one. */
  async #readForeign(
    { text, request }: Pick<Reading, 'text' | 'request'>,
    { phrases }: Language,
    meaning: Meaning | undefined,
    vocabulary: Vocabulary,
  ): Promise<Reading | undefined> {
    const connected = withConnectors(request.intent)
    const intent = phrases ? connected.replace(phrases, ' ') : connected
    const whole = await this.#inEnglish(meaning, intent, none)
    if (whole === intent) return undefined
    const language = languageIn(intent, true)
    // The reading of the English leaves out what is English, but needs its "to".
    const words = language.phrases ? whole : await this.#inEnglish(meaning, intent, language.words)
    const terms = readQuery(request.intent, language)
    const restated = this.#restate(words)
    const inEnglish = { ...request, intent: restated === words ? connected : restated }
    const reading = this.#withSynonyms(text, inEnglish, readQuery(restated, english), vocabulary, terms)
    const directions = new Set([...reading.directions, ...directionsOf(words)])
    return { ...reading, directions, foreign: terms }
  }

  async #inEnglish(
    meaning: Meaning | undefined,
    text: string,
    without: ReadonlySet<string>,
  ): Promise<string> {
    try {
      return (await meaning?.inEnglish(text, without)) ?? text
    } catch (fault) {
      this.#onError(fault)
      return text
    }
  }
}
