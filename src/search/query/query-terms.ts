import { analyse, fold } from './analyse.ts'
import { english, type Language, languageOf } from './languages.ts'

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
const capitals = /(?<![\p{L}\p{N}])\p{Lu}{2,}(?![\p{L}\p{N}])/gu
const operators = new Set(['and', 'or', 'not'])
const loneCharacter = /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]$/u
/** What stands between words. */
export const blanks = /[^\p{L}\p{M}\p{N}]+/u

/**
 * The distinct terms of a query in order, at most 256, without boilerplate of its language such as "please find me a".
 * A query that consists of boilerplate has none.
 */
export function readQuery(text: string, { words, phrases }: Language = languageIn(text)): QueryTerm[] {
  const query = text.slice(0, maxCharacters)
  const terms = new Map<string, QueryTerm>()
  const boilerplate = withoutNames(words, query)
  const read = (part: string, counts: (term: string) => boolean) =>
    analyse(
      part,
      (term, word, isBoilerplate) => {
        if (!isBoilerplate && counts(term)) note(terms, term, word)
      },
      boilerplate,
    )
  read(phrases ? query.replace(phrases, ' ') : query, () => true)
  const alone = phrases ? [...terms.keys()].filter((term) => loneCharacter.test(term)) : []
  // Entries hold a character within a text as a part of pairs: those of the query with a phrase that was cut off it.
  if (alone.length > 0)
    read(query, (term) => alone.some((character) => term !== character && term.includes(character)))
  return [...terms.values()].slice(0, maxTerms)
}

/** How the language of a query asks, which may be known not to be English. */
export function languageIn(text: string, isForeign = false): Language {
  const query = text.slice(0, maxCharacters)
  return languageOf(query, query.split(blanks).map(fold), isForeign)
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

/** The weight of a synonym, as a share of that of a word of the query. */
const synonymShare = 0.4

/** A piece of an acronym such as `k8s`. */
const single = /^[a-z0-9]$/

/**
 * Adds the terms of synonyms and of joined words that a query lacks; synonyms stand for the single letters and digits of
 * acronyms, which they drop.
 */
export function withSynonyms(
  terms: readonly QueryTerm[],
  synonyms: readonly string[],
  joined: readonly string[],
): readonly QueryTerm[] {
  if (synonyms.length + joined.length === 0) return terms
  const own = new Set(terms.map(({ term }) => term))
  const others = readQuery([...synonyms, ...joined].join(' ')).filter(({ term }) => !own.has(term))
  const whole = synonyms.length === 0 ? terms : terms.filter(({ term }) => !single.test(term))
  return [...whole, ...others.map((term) => ({ ...term, share: synonymShare }))].slice(0, maxTerms)
}

/** True unless the script or the stop words of a query show another language. */
export function isEnglish(text: string): boolean {
  return languageIn(text) === english
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
