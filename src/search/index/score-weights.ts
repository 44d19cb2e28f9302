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
  dead: 0.5,
  stale: 0.4,
}

/** Factor of the score of a deprecated agent, which ranks after every agent that matches more than half as well. */
export const deprecatedWeight = 0.5

/** Factor of the score of an agent whose name imitates that of another: it ranks last. */
const imitationWeight = 0.001

/**
 * Factor of the score by whether the agent can be called: at nearly equal relevance, an agent that can be called ranks
 * first, and of two such agents the one that asks for less.
 */
export const callableWeights: Readonly<Record<Callable, number>> = {
  hosted: 1,
  open: 1,
  needs_key: 0.98,
  needs_sign_in: 0.98,
  stated: 0.97,
  package: 0.94,
  no: 0.93,
}

export type WeighedStatus = Pick<SearchDocument, 'liveness' | 'callable' | 'deprecated' | 'imitates_name'>

/** The factors below 1 of an agent's score, by their reason. */
export function weightsOf({
  liveness = 'unknown',
  callable = 'open',
  deprecated = false,
  imitates_name = false,
}: WeighedStatus): Record<string, number> {
  // A dead agent cannot be called: one reason lowers its score once.
  const isAsked = liveness !== 'dead' && liveness !== 'stale'
  return {
    ...(livenessWeights[liveness] < 1 && { liveness: livenessWeights[liveness] }),
    ...(isAsked && callableWeights[callable] < 1 && { callable: callableWeights[callable] }),
    ...(deprecated && { deprecated: deprecatedWeight }),
    ...(imitates_name && { imitates_name: imitationWeight }),
  }
}
