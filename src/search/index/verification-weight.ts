import type { SearchDocument } from '../search-index.ts'
import { weightOf } from './liveness-weight.ts'

/** What of its score a deprecated agent is found by: it comes after all that fit more than half as well. */
export const deprecatedWeight = 0.5

export type Standing = Pick<SearchDocument, 'liveness' | 'deprecated'>

/** Each reason by which an agent counts for less than it fits. */
export function weightsOf({ liveness = 'unknown', deprecated = false }: Standing): Record<string, number> {
  return {
    ...(weightOf[liveness] < 1 && { liveness: weightOf[liveness] }),
    ...(deprecated && { deprecated: deprecatedWeight }),
  }
}
