import { analyse, fold } from './analyse.ts'
import { languageOf } from './languages.ts'

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
const capitals = /(?<![\p{L}\p{N}])\p{Lu}{2,}(?![\p{L}\p{N}])/gu
const operators = new Set(['and', 'or', 'not'])
const blanks = /[^\p{L}\p{M}\p{N}]+/u

/**
 * The distinct terms of a query in order, at most 256, without boilerplate of its language such as "please find me a".
 * A query that consists of boilerplate has none.
 */
export function readQuery(text: string): QueryTerm[] {
  const query = text.slice(0, maxCharacters)
  const { words, phrases } = languageOf(query, query.split(blanks).map(fold))
  const terms = new Map<string, QueryTerm>()
  analyse(
    phrases ? query.replace(phrases, ' ') : query,
    (term, word, boilerplate) => {
      if (!boilerplate) note(terms, term, word)
    },
    withoutNames(words, query),
  )
  return [...terms.values()].slice(0, maxTerms)
}

/** Boilerplate without the words that are written in capitals, such as WHO or IT: those are names. */
function withoutNames(boilerplate: ReadonlySet<string>, query: string): ReadonlySet<string> {
  if (query === query.toUpperCase()) return boilerplate
  const names = (query.match(capitals) ?? []).map(fold).filter((name) => boilerplate.has(name))
  if (names.length === 0) return boilerplate
  const others = new Set(boilerplate)
  for (const name of names) if (!operators.has(name)) others.delete(name)
  return others
}

function note(terms: Map<string, QueryTerm>, term: string, word: string): void {
  const existing = terms.get(term)
  const words = new Set(existing?.words).add(word)
  terms.set(term, { term, words, count: (existing?.count ?? 0) + 1 })
}
