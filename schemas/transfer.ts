import { z } from 'zod'
import { State } from './entry-parts.ts'
import { nextCursor } from './paging.ts'
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

/** The effect of a transfer. */
export const TransferStatus = z.enum(['offered', 'withdrawn', 'transferred'])
export type TransferStatus = z.infer<typeof TransferStatus>
