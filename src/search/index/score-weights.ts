import type { Callable } from '../../../schemas/callable.ts'
import type { LivenessStatus } from '../../../schemas/liveness.ts'
import type { SearchDocument } from '../search-index.ts'

/**
 * Factor of the score by liveness. A dead agent ranks after every agent that matches more than half as well; a
 * degraded one ranks after every agent that matches as well. An agent that was never probed has its full score.
 */
export const livenessWeights: Readonly<Record<LivenessStatus, number>> = {
  unknown: 1,
  alive: 1,
  degraded: 0.9,
  unreachable: 0.9,
  dead: 0.5,
  stale: 0.4,
}

/** Factor of the score of a deprecated agent, which ranks after every agent that matches more than half as well. */
export const deprecatedWeight = 0.5

/** Factor of the score of an agent whose name imitates that of another: it ranks last. */
const imitationWeight = 0.001

/**
 * Factor of the score of an agent that cannot be called here: of agents that fit nearly equally well, one that can be
 * called ranks first. A smaller factor would lower NDCG@10 where the best agent cannot be called (docs/search-quality.md).
 */
const uncallableWeight = 0.98
const uncallable: ReadonlySet<Callable> = new Set(['package', 'no'])

export type WeighedStatus = Pick<SearchDocument, 'liveness' | 'callable' | 'deprecated' | 'imitates_name'>

/** The factors below 1 of an agent's score, by their reason. */
export function weightsOf({
  liveness,
  callable,
  deprecated,
  imitates_name,
}: WeighedStatus): Record<string, number> {
  // A dead agent cannot be called: one reason lowers its score once.
  const answers = liveness !== 'dead' && liveness !== 'stale'
  return {
    ...(livenessWeights[liveness] < 1 && { liveness: livenessWeights[liveness] }),
    ...(answers && uncallable.has(callable) && { callable: uncallableWeight }),
    ...(deprecated && { deprecated: deprecatedWeight }),
    ...(imitates_name && { imitates_name: imitationWeight }),
  }
}

/** The factor of an agent's score. */
export function weightOf(status: WeighedStatus): number {
  return Object.values(weightsOf(status)).reduce((product, factor) => product * factor, 1)
}
