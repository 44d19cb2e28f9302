import { indexedFields } from '../../../schemas/entry-fields.ts'
import { analyse } from '../../../src/search/query/analyse.ts'
import type { Filter, SearchDocument } from '../../../src/search/search-index.ts'

interface Token {
  readonly term: string
  readonly boilerplate: boolean
}

/**
 * BM25F and the bonus for an exact name, straight from the tokens of every document: slow and plain. Statistics are
 * those of ACTIVE documents.
 */
export function bruteForceScores(
  documents: readonly SearchDocument[],
  text: string,
): { scores: Map<string, number>; most: number } {
  const terms = tokens(text)
    .filter((token) => !token.boilerplate)
    .map((token) => token.term)
  const bags = documents.map(bagOf)
  const counted = bags.filter((_, index) => documents[index]!.state === 'ACTIVE')
  const average = counted.reduce((sum, bag) => sum + bag.length, 0) / counted.length || 1

  const weights = [...new Set(terms)].map((term) => {
    const count = terms.filter((other) => other === term).length
    const having = counted.filter((bag) => bag.terms.includes(term)).length
    const rarity = Math.log(1 + (counted.length - having + 0.5) / (having + 0.5))
    return { term, weight: rarity * Math.sqrt(count) }
  })
  const most = weights.reduce((sum, { weight }) => sum + weight, 0) || 1

  const scores = new Map<string, number>()
  documents.forEach((document, index) => {
    const bag = bags[index]!
    let score = 0
    for (const { term, weight } of weights) {
      const frequency = bag.terms.filter((other) => other === term).length
      score += (weight * frequency) / (frequency + 1.2 * (0.25 + (0.75 * bag.length) / average))
    }
    const names = [document.name, document.package_name].map((name) => name.trim().toLowerCase())
    if (names.includes(text.trim().toLowerCase())) score += most
    if (score > 0) scores.set(document.id, score)
  })
  return { scores, most }
}

/** Text that publishers state is compared without case; a state and an owner are exact. */
export function meets(document: SearchDocument, { state, owner, ...filter }: Filter): boolean {
  if (state !== undefined && document.state !== state) return false
  if (owner !== undefined && document.owner !== owner) return false
  return indexedFields.every((name) => {
    const filtered: readonly string[] = [filter[name] ?? []].flat()
    return filtered.every((value) => [document[name]].flat().includes(value.toLowerCase()))
  })
}

/**
 * A term of the names counts twice, the first label of the package name not at all; the length leaves out boilerplate,
 * terms of the package name alone, and the category and licence.
 */
function bagOf(document: SearchDocument): { terms: string[]; length: number } {
  const packageWords = document.package_name.slice(document.package_name.indexOf('.') + 1)
  const named = [...tokens(document.name), ...tokens(packageWords)]
  const distinct = [...new Map(named.map((token) => [token.term, token])).values()]
  const texts = [
    document.description,
    ...document.tags,
    ...document.capabilities.flatMap(({ name, description }) => [name, description]),
  ]
  const called = new Set(tokens(document.name).map(({ term }) => term))
  const own = distinct.filter(({ term }) => called.has(term))
  const written = texts.flatMap(tokens)
  const telling = [...own, ...own, ...written].filter((token) => !token.boilerplate)
  const labels = [document.category, document.license].flatMap((label) => tokens(label ?? ''))
  return {
    terms: [...distinct, ...distinct, ...written, ...labels].map(({ term }) => term),
    length: telling.length,
  }
}

function tokens(text: string): Token[] {
  const found: Token[] = []
  analyse(text, (term, _word, boilerplate) => found.push({ term, boilerplate }))
  return found
}
