import { analyse } from './analyse.ts'

/** A distinct term of a query. */
export interface QueryTerm {
  readonly term: string
  /** The written forms of the term, in lower case. */
  readonly words: ReadonlySet<string>
  /** The number of occurrences of the term. */
  readonly count: number
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
