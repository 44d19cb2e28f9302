import type { PostingList } from '../../common/postings.ts'

/** Exceeds the index of any capability with a term: no more characters than this are read from an entry. */
const span = 2 ** 20
/** Maximum pairs for each entry. Further terms find the entry too, but not its best capability. */
const maxPairs = 10_000

/**
 * Pairs of a term and a capability that has it, one after another. They are sorted, so that the capabilities with one
 * term are adjacent.
 */
export type CapabilityTerms = Uint32Array

/** Pairs the capabilities of an entry, by their index, with their terms. */
export function pairTerms(capabilities: readonly (readonly PostingList[])[]): CapabilityTerms {
  const pairs = capabilities.flatMap((terms, capability) =>
    terms.map(({ serial }) => serial * span + capability),
  )
  const sorted = new Float64Array(pairs.slice(0, maxPairs)).sort()
  const flat = new Uint32Array(sorted.length * 2)
  sorted.forEach((pair, at) => {
    flat[at * 2] = Math.floor(pair / span)
    flat[at * 2 + 1] = pair % span
  })
  return flat
}

/** Adds the weight of a term to the weight of each capability that has the term. */
export function addWeight(
  weights: Float64Array,
  pairs: CapabilityTerms,
  { serial }: PostingList,
  weight: number,
): void {
  for (let index = firstFrom(pairs, serial); pairs[index * 2] === serial; index++) {
    const capability = pairs[index * 2 + 1] ?? 0
    weights[capability] = (weights[capability] ?? 0) + weight
  }
}

/** The index of the first pair of this term or a later one. */
function firstFrom(pairs: CapabilityTerms, serial: number): number {
  let low = 0
  let high = pairs.length / 2
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((pairs[middle * 2] ?? 0) < serial) low = middle + 1
    else high = middle
  }
  return low
}
