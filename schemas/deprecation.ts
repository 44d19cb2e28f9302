import { z } from 'zod'
import { agentReference, expectedRevision } from './publication.ts'
import { visible } from './text.ts'

/** An agent that still answers, but should not get new users. */
export const Deprecation = z
  .object({
    message: z.string().nullable().describe('The reason, or what to do instead.'),
    successor: z.string().nullable().describe('Package name of its successor.'),
    at: z.iso.datetime(),
  })
  .meta({ id: 'Deprecation' })
export type Deprecation = z.infer<typeof Deprecation>

/** A deprecation, or its end. */
export const DeprecationInput = z.strictObject({
  agent: agentReference,
  deprecated: z.boolean().default(true).describe('False withdraws the deprecation.'),
  message: visible(z.string().trim().min(1).max(500)).optional().describe('All callers see this text.'),
  successor: agentReference.optional().describe('A listed agent that replaces it.'),
  expected_revision: expectedRevision,
})
export type DeprecationInput = z.output<typeof DeprecationInput>
