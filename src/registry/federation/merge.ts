import type { ForeignAgent } from '../../../schemas/federation.ts'

/** An agent as another registry has found it. */
export type ForeignResult = Omit<ForeignAgent, 'position'>

/** The first agents of the merged list: how many of this registry, in their order, and those of others by place. */
interface Merged {
  readonly own: number
  readonly others: readonly ForeignAgent[]
}

/** Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): scores of different registries do not compare. */
const damping = 60

/**
 * Merges the ranking of this registry with those of others by rank. An agent that several others have found counts
 * once, with the sum of its shares, as the first of them describes it. At least one agent of this registry is shown if
 * it has any, so that the next page has a place to continue from.
 */
export function merge(
  ownCount: number,
  rankings: readonly (readonly ForeignResult[])[],
  limit: number,
): Merged {
  const foreign = new Map<string, { readonly result: ForeignResult; share: number }>()
  for (const ranking of rankings) {
    for (const [rank, result] of distinct(ranking).entries()) {
      const item = foreign.get(result.identifier) ?? { result, share: 0 }
      item.share += shareOf(rank)
      foreign.set(result.identifier, item)
    }
  }
  const own = Array.from({ length: ownCount }, (_, rank) => ({ result: undefined, share: shareOf(rank) }))
  // The sort is stable: of equal shares those of this registry come first.
  const all = [...own, ...foreign.values()].sort((left, right) => right.share - left.share)
  const first = all.slice(0, limit)
  const shown = ownCount > 0 && first.every(({ result }) => result) ? [own[0], ...first.slice(0, -1)] : first
  return {
    own: shown.filter((item) => item?.result === undefined).length,
    others: shown.flatMap((item, position) => (item?.result ? [{ ...item.result, position }] : [])),
  }
}

function shareOf(rank: number): number {
  return 1 / (damping + rank + 1)
}

function distinct(ranking: readonly ForeignResult[]): ForeignResult[] {
  const seen = new Set<string>()
  return ranking.filter(({ identifier }) => seen.size < seen.add(identifier).size)
}
