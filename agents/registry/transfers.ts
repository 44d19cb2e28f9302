import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { cursor } from '../../schemas/paging.ts'
import { agentReference, type Change, expectedRevision } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { TransferPage, TransferStatus } from '../../schemas/transfer.ts'
import { requirePrincipal } from './caller.ts'
import type { RegistryPort } from './port.ts'

const Offer = z.strictObject({
  agent: agentReference,
  subject: z
    .string()
    .min(1)
    .max(200)
    .nullable()
    .describe('Subject of the tokens of the receiver; null withdraws the offer.'),
  issuer: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Issuer of those tokens; that of your own when absent.'),
  expected_revision: expectedRevision,
})
const Effect = z
  .object({ id: z.uuid(), package_name: z.string(), revision: z.int(), status: TransferStatus })
  .meta({ id: 'TransferResult' })
type Effect = z.infer<typeof Effect>

export function transfer(registry: RegistryPort): Action<z.output<typeof Offer>, Effect> {
  return defineAction({
    name: 'transfer',
    title: 'Offer an agent',
    description:
      'Offers an agent to another owner, who gets it by accept_transfer, with its history; nothing changes before. A new offer replaces the old one, and subject null withdraws it. A transfer by an admin needs no acceptance. A domain proof ends with the transfer.',
    input: input(Offer),
    output: output(Effect),
    access: { scope: 'agents:publish' },
    effect: 'write',
    advertised: false,
    run: ({ subject, issuer, ...change }, { principal }) =>
      registry.transfer(change, { subject, issuer }, principal),
  })
}

const Input = z.strictObject({ agent: agentReference, expected_revision: expectedRevision })

export function acceptTransfer(registry: RegistryPort): Action<Change, EntryDetail> {
  return defineAction({
    name: 'accept_transfer',
    title: 'Accept an agent',
    description:
      'Makes the caller the owner of an agent that its owner offered to the caller by transfer, with its history. The caller must prove the domain again.',
    input: input(Input),
    output: output(EntryDetail),
    access: { scope: 'agents:publish' },
    effect: 'write',
    advertised: false,
    run: (change, { principal }) => registry.acceptTransfer(change, principal),
  })
}

const Query = z.strictObject({
  made: z
    .boolean()
    .default(false)
    .describe('True lists the offers of your own agents; false lists the offers to you.'),
  limit: z.int().min(1).max(100).default(20),
  cursor,
})

export function listTransfers(registry: RegistryPort): Action<z.output<typeof Query>, TransferPage> {
  return defineAction({
    name: 'list_transfers',
    title: 'List offered agents',
    description: 'Lists the agents that other owners offer to you, or that you offer to others.',
    input: input(Query),
    output: output(TransferPage),
    access: { scope: 'agents:read' },
    effect: 'read',
    advertised: false,
    run: (query, { principal }) => registry.listTransfers(query, requirePrincipal(principal)),
  })
}
