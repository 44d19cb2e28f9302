import { joints } from '../../query/analyse.ts'
import { blanks } from '../../query/query-terms.ts'
import type { WordList } from '../../spelling/word-list.ts'
import type { WordVectors } from './word-vectors.ts'

/** A word of a query. */
interface QueryWord {
  readonly word: string
  /** Share of its weight that counts, 0 to 1. */
  readonly share: number
  /** True if the entry has the word. */
  isIn(slot: number): boolean
}

/** An entry whose words are compared with those of a query. */
interface Worded {
  readonly slot: number
  /** The same object for as long as the entry does not change. */
  readonly document: { readonly name: string }
  /** The words of its own texts, by their numbers in the list of words. */
  readonly words: () => Uint32Array
}

const maxQueryWords = 32
const maxNameCharacters = 200
/** A word that has no parts. */
const simple = /^\p{L}\p{Ll}*$/u

/**
 * How like the words of an entry are to those of a query in meaning, 0 to 1: the mean of how much of its name is in the
 * query and how much of the query is in its texts. Each word is compared with each, where the vector of a whole text
 * mixes its words (late interaction, Khattab and Zaharia 2020), and counts by what it tells. Undefined if the vectors
 * have no word of the query. Valid until the next comparison by these vectors.
 */
export function compareWords(
  query: readonly QueryWord[],
  vectors: WordVectors,
  list: WordList,
): ((entry: Worded) => number) | undefined {
  const compared = query.slice(0, maxQueryWords)
  const importance = vectors.begin(compared.map(({ word }) => word))
  const weights = compared.map(({ share }, at) => share * (importance[at] as number))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return undefined

  function shareOfQuery(slot: number): number {
    let found = 0
    for (const [at, word] of compared.entries())
      found += (weights[at] as number) * (word.isIn(slot) ? 1 : vectors.highestOfQuery(at))
    return found / total
  }

  return ({ slot, document, words }) => {
    const wordsOf = () => ({
      name: document.name.slice(0, maxNameCharacters).split(blanks).map(formsOf),
      others: words(),
    })
    const importance = vectors.compare(document, wordsOf, list)
    return (shareOfName(importance, vectors) + shareOfQuery(slot)) / 2
  }
}

/** A word of a name as it is, then its parts: `GitHub` is more than a hub, and `getPrice` is about a price. */
function formsOf(word: string): string[] {
  const parts = simple.test(word) ? [] : word.split(joints)
  return [word, ...parts].map((form) => form.toLowerCase())
}

/** How much of a name is in the query: of each word as it is or of its parts, whichever is more. */
function shareOfName(importance: readonly (readonly number[])[], vectors: WordVectors): number {
  let total = 0
  let found = 0
  let at = 0
  for (const forms of importance) {
    const weight = forms[0] ?? 0
    const likeness = vectors.highest(at++)
    let ofParts = 0
    let like = 0
    for (let part = 1; part < forms.length; part++) {
      like += (forms[part] as number) * vectors.highest(at++)
      ofParts += forms[part] as number
    }
    const heavier = Math.max(weight, ofParts)
    total += heavier
    found += heavier * Math.max(likeness, like / (ofParts || 1))
  }
  return found / (total || 1)
}
