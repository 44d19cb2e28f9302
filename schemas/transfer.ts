import { z } from 'zod'
import { State } from './entry-parts.ts'
import { cursor, limit, nextCursor } from './paging.ts'
import { agentReference, expectedRevision } from './publication.ts'
import { Issuer, Subject } from './scope.ts'
import { Party } from './trust.ts'

/** An agent that its owner offers to another owner. */
export const TransferOffer = z
  .object({
    id: z.uuid(),
    package_name: z.string(),
    name: z.string(),
    description: z.string(),
    state: State,
    from: Party.nullable().describe('The owner of the agent.'),
    to: Party.describe('Who may accept.'),
    offered_at: z.iso.datetime(),
  })
  .meta({ id: 'TransferOffer' })
export type TransferOffer = z.infer<typeof TransferOffer>

export const TransferPage = z
  .object({
    offers: z.array(TransferOffer),
    next_cursor: nextCursor,
  })
  .meta({ id: 'TransferPage' })
export type TransferPage = z.infer<typeof TransferPage>

/** Which page of the offers that the caller made or received. */
export const TransferRange = z.strictObject({
  made: z
    .boolean()
    .default(false)
    .describe('True lists the offers of your own agents; false lists the offers to you.'),
  limit,
  cursor,
})
export type TransferRange = z.output<typeof TransferRange>

/** An offer to another owner, or its withdrawal. */
export const TransferInput = z.strictObject({
  agent: agentReference,
  subject: Subject.nullable().describe('Subject of the tokens of the receiver; null withdraws the offer.'),
  issuer: Issuer.optional().describe('Issuer of those tokens; that of your own when absent.'),
  expected_revision: expectedRevision,
})
export type TransferInput = z.output<typeof TransferInput>

/** What a transfer did. */
export const TransferStatus = z.enum(['offered', 'withdrawn', 'transferred'])
export type TransferStatus = z.infer<typeof TransferStatus>

export const TransferResult = z
  .object({ id: z.uuid(), package_name: z.string(), revision: z.int(), status: TransferStatus })
  .meta({ id: 'TransferResult' })
export type TransferResult = z.infer<typeof TransferResult>
