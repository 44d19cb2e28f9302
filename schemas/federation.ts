import { z } from 'zod'
import { ContentFlag } from './trust.ts'

/** Whether a search asks other registries. */
export const FederationMode = z
  .enum(['none', 'auto', 'referrals'])
  .meta({ id: 'FederationMode' })
  .default('none')
  .describe(
    'auto: ask the registries that the operator has chosen too; referrals: name them; none: this registry alone.',
  )
export type FederationMode = z.infer<typeof FederationMode>

/** An agent that another registry has found. Everything about it is what that registry states. */
export const ForeignAgent = z
  .object({
    source: z.string().describe('The registry that found it; nothing about it is checked here.'),
    identifier: z.string().describe('Its ARD identifier there.'),
    name: z.string(),
    description: z.string(),
    type: z.string().describe('Media type of its card.'),
    url: z.string().describe('Address of its card.'),
    version: z.string().optional(),
    updated_at: z.string().optional(),
    tags: z.array(z.string()),
    score: z
      .int()
      .min(0)
      .max(100)
      .describe('Score of that registry; scores of two registries do not compare.'),
    position: z
      .int()
      .describe('Place in the list of agents of all registries, from 0; agents of this one fill the rest.'),
    content_flags: z
      .array(z.union([ContentFlag, z.literal('hidden_characters')]))
      .optional()
      .describe('Warnings about its texts; hidden characters are removed.'),
  })
  .meta({ id: 'ForeignAgent' })
export type ForeignAgent = z.infer<typeof ForeignAgent>

/** How one of the other registries took part in a search. */
export const UpstreamReport = z
  .object({
    url: z.string().describe('Base of its ARD API.'),
    status: z
      .enum(['answered', 'late', 'failed', 'skipped', 'not_asked'])
      .describe('late: no answer within the budget; skipped: the search cannot be passed on.'),
    results: z.int().describe('Number of its agents in this answer.'),
    detail: z.string().optional(),
  })
  .meta({ id: 'UpstreamReport' })
export type UpstreamReport = z.infer<typeof UpstreamReport>

/** What other registries add to the answer of a search. */
export const federatedShape = {
  others: z.array(ForeignAgent).optional().describe('Agents of other registries, which are not listed here.'),
  upstreams: z
    .array(UpstreamReport)
    .optional()
    .describe('The other registries, if the search names or asks them.'),
}
