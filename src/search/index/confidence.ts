import type { Match } from '../../../schemas/card.ts'

/** The logit of the probability that a hit fits; `npm run eval:calibrate` computes the coefficients (docs/search-quality.md). */
const bySimilarity = { intercept: -4.93, similarity: 8.78, coverage: 2.53 }
const byWords = { intercept: -1.49, coverage: 4.63 }
/** An exact name is what its caller means, whatever its words. */
const named = 0.95

/**
 * The probability that a hit fits a query, 0 to 1: by the share of the query's information in the words that the hit
 * has, and by the cosine of their meaning if it is known; lower by the factor of its score if it holds what the query
 * excludes. Unlike the score it is absolute: it compares over queries.
 */
export function confidenceOf({ similarity, scores }: Match, isNamed: boolean): number {
  const { coverage = 0, excluded = 1 } = scores
  const logit =
    similarity === null
      ? byWords.intercept + byWords.coverage * coverage
      : bySimilarity.intercept + bySimilarity.similarity * similarity + bySimilarity.coverage * coverage
  const probability = excluded / (1 + Math.exp(-logit))
  return isNamed ? Math.max(named, probability) : probability
}
