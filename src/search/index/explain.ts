import type { Match } from '../../../schemas/card.ts'
import type { Near } from '../vectors/vector-store.ts'
import { addWeight, type CapabilityTerms } from './capability-terms.ts'
import { weightsOf } from './score-weights.ts'
import type { StoredDocument } from './stored-documents.ts'
import type { Adjustment, WeighedTerm } from './text-index.ts'

/** The explanation of a hit in a query without text. */
export const listed: Match = { terms: [], capability: null, similarity: null, scores: {} }

/** An entry in the index. */
interface Explained {
  readonly slot: number
  readonly document: StoredDocument
  /** How like its words are to those of the query, 0 to 1, if they were compared one by one. */
  readonly likeWords: number | undefined
  /** Read only for a hit whose best capability its similarity does not tell. */
  termsOfCapabilities(): CapabilityTerms
}

/** Explains a hit: the query words that the entry contains, its similarity in meaning, and its best capability. */
export function explain(
  entry: Explained,
  query: readonly WeighedTerm[],
  lexical: number,
  near: Near | undefined,
  adjustment: Adjustment = {},
): Match {
  const found = query.filter(({ list }) => list.has(entry.slot))
  // Sums of floats may exceed the range of a cosine slightly.
  const similarity = near ? Math.max(-1, Math.min(1, near.similarity)) : null
  const words = new Set<string>()
  for (const term of found) for (const word of term.words) words.add(word)
  return {
    terms: [...words],
    capability: nearestCapability(entry, near) ?? bestCapability(entry, found),
    similarity,
    scores: {
      lexical,
      coverage: totalOf(found) / (totalOf(query) || 1),
      ...(similarity !== null && { semantic: similarity }),
      ...(entry.likeWords !== undefined && { words: entry.likeWords }),
      ...weightsOf(entry.document),
      ...adjustment,
    },
  }
}

function totalOf(terms: readonly WeighedTerm[]): number {
  return terms.reduce((sum, { weight }) => sum + weight, 0)
}

function nearestCapability({ document }: Explained, near: Near | undefined): string | null {
  return document.capabilities[near?.capability ?? -1] ?? null
}

/**
 * Returns the capability whose terms have the largest weight in the query; the first one of equals. Null if no
 * capability contains a term of the query.
 */
function bestCapability(
  { document, termsOfCapabilities }: Explained,
  found: readonly WeighedTerm[],
): string | null {
  const capabilityTerms = termsOfCapabilities()
  const weights = new Float64Array(document.capabilities.length)
  for (const { list, weight } of found) addWeight(weights, capabilityTerms, list, weight)
  let maxWeight = 0
  for (const weight of weights) if (weight > maxWeight) maxWeight = weight
  return maxWeight > 0 ? (document.capabilities[weights.indexOf(maxWeight)] ?? null) : null
}
