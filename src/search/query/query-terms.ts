import { analyse } from './analyse.ts'

/** A distinct term of a query. */
export interface QueryTerm {
  readonly term: string
  /** The written forms of the term, in lower case. */
  readonly words: ReadonlySet<string>
  /** The number of occurrences of the term. */
  readonly count: number
  /** Share of its weight that a term of a synonym has; all of it when absent. */
  readonly share?: number
}

const maxCharacters = 4_000
const maxTerms = 256

/**
 * The distinct terms of a query in order, at most 256, without boilerplate such as "please find me a". A query that
 * consists of boilerplate keeps all its words.
 */
export function readQuery(text: string): QueryTerm[] {
  const all = new Map<string, QueryTerm>()
  const informative = new Map<string, QueryTerm>()
  analyse(text.slice(0, maxCharacters), (term, word, boilerplate) => {
    note(all, term, word)
    if (!boilerplate) note(informative, term, word)
  })
  return [...(informative.size > 0 ? informative : all).values()].slice(0, maxTerms)
}

/** The weight of a synonym, as a share of that of a word of the query. */
const synonymShare = 0.4

/** A piece of an acronym such as `k8s`. */
const single = /^[a-z0-9]$/

/** Adds the terms of synonyms that a query lacks, and drops the single letters and digits of acronyms. */
export function withSynonyms(terms: readonly QueryTerm[], synonyms: readonly string[]): readonly QueryTerm[] {
  if (synonyms.length === 0) return terms
  const own = new Set(terms.map(({ term }) => term))
  const others = readQuery(synonyms.join(' ')).filter(({ term }) => !own.has(term))
  const whole = terms.filter(({ term }) => !single.test(term))
  return [...whole, ...others.map((term) => ({ ...term, share: synonymShare }))].slice(0, maxTerms)
}

/** The terms of one word. */
export function termsOf(word: string): string[] {
  const terms: string[] = []
  analyse(word, (term) => terms.push(term))
  return terms
}

function note(terms: Map<string, QueryTerm>, term: string, word: string): void {
  const existing = terms.get(term)
  const words = new Set(existing?.words).add(word)
  terms.set(term, { term, words, count: (existing?.count ?? 0) + 1 })
}
