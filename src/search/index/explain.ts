import type { Match } from '../../../schemas/card.ts'
import type { Near } from '../vectors/vector-store.ts'
import { addWeight } from './capability-terms.ts'
import type { TableEntry } from './document-table.ts'
import { weightsOf } from './score-weights.ts'
import type { Adjustment, WeighedTerm } from './text-index.ts'

/** The explanation of a hit in a query without text. */
export const listed: Match = { terms: [], capability: null, similarity: null, scores: {} }

/** Explains a hit: the query words that the entry contains, its similarity in meaning, and its best capability. */
export function explain(
  slot: number,
  entry: TableEntry,
  query: readonly WeighedTerm[],
  lexical: number,
  near: Near | undefined,
  adjustment: Adjustment = {},
): Match {
  const found = query.filter(({ list }) => list.has(slot))
  const similarity = similarityOf(near)
  const words = new Set(found.flatMap((term) => [...term.words]))
  return {
    terms: [...words],
    capability: nearestCapability(entry, near) ?? bestCapability(entry, found),
    similarity,
    scores: {
      lexical,
      coverage: coverageOf(slot, query),
      ...(similarity !== null && { semantic: similarity }),
      ...weightsOf(entry.document),
      ...adjustment,
    },
  }
}

/** The share of the query's information in the words that the entry has, 0 to 1. */
export function coverageOf(slot: number, query: readonly WeighedTerm[]): number {
  return totalOf(query.filter(({ list }) => list.has(slot))) / (totalOf(query) || 1)
}

/** Sums of floats may exceed the range of a cosine slightly. */
export function similarityOf(near: Near | undefined): number | null {
  return near ? Math.max(-1, Math.min(1, near.similarity)) : null
}

function totalOf(terms: readonly WeighedTerm[]): number {
  return terms.reduce((sum, { weight }) => sum + weight, 0)
}

function nearestCapability({ document }: TableEntry, near: Near | undefined): string | null {
  return document.capabilities[near?.capability ?? -1] ?? null
}

/**
 * Returns the capability whose terms have the largest weight in the query; the first one of equals. Null if no
 * capability contains a term of the query.
 */
function bestCapability({ document, text }: TableEntry, found: readonly WeighedTerm[]): string | null {
  const weights = new Float64Array(document.capabilities.length)
  for (const { list, weight } of found) addWeight(weights, text.capabilities, list, weight)
  const maxWeight = weights.reduce((left, right) => Math.max(left, right), 0)
  return maxWeight > 0 ? (document.capabilities[weights.indexOf(maxWeight)] ?? null) : null
}
