import { z } from 'zod'
import { agentReference } from './publication.ts'
import { visible } from './text.ts'

/** A problem with an agent, for its owner and the admins. */
export const ReportInput = z.strictObject({
  agent: agentReference,
  reason: z.enum(['malicious', 'impersonation', 'misleading', 'broken', 'other']),
  detail: visible(z.string().trim().min(1).max(2000)).optional().describe('What you saw, and where.'),
})
export type ReportInput = z.output<typeof ReportInput>

/** The removal of an agent and all its versions. */
export const PurgeInput = z.strictObject({
  agent: agentReference,
  reason: visible(z.string().trim().min(1).max(1000)).describe(
    'The log keeps this text: do not repeat here what is to be removed.',
  ),
})
export type PurgeInput = z.output<typeof PurgeInput>
