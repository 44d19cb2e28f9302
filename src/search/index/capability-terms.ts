import type { PostingList } from '../../common/postings.ts'

/** Exceeds the index of any capability with a term: no more characters than this are read from an entry. */
const span = 2 ** 20
/** Maximum pairs for each entry. Further terms find the entry too, but not its best capability. */
const maxPairs = 10_000

/**
 * Each pair of a capability and one of its terms is one number. The numbers are sorted, so that the capabilities with
 * one term are adjacent.
 */
export type CapabilityTerms = Float64Array

/** Pairs the capabilities of an entry, by their index, with their terms. */
export function pairTerms(capabilities: readonly (readonly PostingList[])[]): CapabilityTerms {
  const pairs = capabilities.flatMap((terms, capability) =>
    terms.map(({ serial }) => serial * span + capability),
  )
  return new Float64Array(pairs.slice(0, maxPairs)).sort()
}

/** Adds the weight of a term to the weight of each capability that has the term. */
export function addWeight(
  weights: Float64Array,
  pairs: CapabilityTerms,
  { serial }: PostingList,
  weight: number,
): void {
  const first = serial * span
  for (let index = firstFrom(pairs, first); index < pairs.length; index++) {
    const capability = (pairs[index] ?? 0) - first
    if (capability >= span) return
    weights[capability] = (weights[capability] ?? 0) + weight
  }
}

function firstFrom(pairs: CapabilityTerms, pair: number): number {
  let low = 0
  let high = pairs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((pairs[middle] ?? 0) < pair) low = middle + 1
    else high = middle
  }
  return low
}
