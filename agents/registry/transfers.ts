import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { Change } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { TransferInput, TransferPage, TransferRange, TransferResult } from '../../schemas/transfer.ts'
import { requirePrincipal } from './caller.ts'
import type { RegistryPort } from './port.ts'

export function transfer(registry: RegistryPort): Action<TransferInput, TransferResult> {
  return defineAction({
    name: 'transfer',
    title: 'Offer an agent to another owner',
    description:
      'Offers an agent to another owner, who gets it by accept_transfer, with its history; nothing changes before. A new offer replaces the old one, and subject null withdraws it. A transfer by an admin needs no acceptance. A domain proof ends with the transfer.',
    input: input(TransferInput),
    output: output(TransferResult),
    access: { scope: 'agents:publish' },
    effect: 'write',
    advertised: false,
    run: (request, { principal }) => registry.transfer(request, principal),
  })
}

export function acceptTransfer(registry: RegistryPort): Action<Change, EntryDetail> {
  return defineAction({
    name: 'accept_transfer',
    title: 'Accept an agent that its owner offers to you',
    description:
      'Makes the caller the owner of an agent that its owner offered to the caller by transfer, with its history. The caller must prove the domain again.',
    input: input(Change),
    output: output(EntryDetail),
    access: { scope: 'agents:publish' },
    effect: 'write',
    advertised: false,
    run: (change, { principal }) => registry.acceptTransfer(change, principal),
  })
}

export function listTransfers(registry: RegistryPort): Action<TransferRange, TransferPage> {
  return defineAction({
    name: 'list_transfers',
    title: 'List offered agents',
    description: 'Lists the agents that other owners offer to you, or that you offer to others.',
    input: input(TransferRange),
    output: output(TransferPage),
    access: { scope: 'agents:read' },
    effect: 'read',
    advertised: false,
    run: (range, { principal }) => registry.listTransfers(range, requirePrincipal(principal)),
  })
}
