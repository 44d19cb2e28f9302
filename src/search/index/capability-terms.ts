import type { PostingList } from '../../common/postings.ts'

/** Above the place of any capability that has a term: no more characters than that are read of an entry. */
const span = 2 ** 20
/** Per entry; the terms after them find it as well as any, but tell none of its capabilities. */
const maxPairs = 10_000

/**
 * Each pair of a capability and a term of it as one number, sorted, so that the capabilities with one term stand
 * together and are found by it.
 */
export type CapabilityTerms = Float64Array

/** Pairs the capabilities of an entry, which are known by their place, with their terms. */
export function pairTerms(capabilities: readonly (readonly PostingList[])[]): CapabilityTerms {
  const pairs = capabilities.flatMap((terms, capability) =>
    terms.map(({ serial }) => serial * span + capability),
  )
  return new Float64Array(pairs.slice(0, maxPairs)).sort()
}

/** Adds the weight of a term to that of each capability that has it. */
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
