import type { LivenessStatus } from '../../../schemas/liveness.ts'

/**
 * What of its score an agent is found by: one that does not answer comes after all that fit half as well, and one that
 * is in trouble after those that fit as well. What nobody has looked at counts in full.
 */
export const weightOf: Readonly<Record<LivenessStatus, number>> = {
  unknown: 1,
  alive: 1,
  degraded: 0.9,
  dead: 0.5,
  stale: 0.4,
}
