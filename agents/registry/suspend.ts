import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { agentReference, expectedRevision } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { SuspensionPage, SuspensionRange } from '../../schemas/suspension.ts'
import { visible } from '../../schemas/text.ts'
import type { RegistryPort } from './port.ts'

const Input = z
  .strictObject({
    agent: agentReference,
    reason: visible(z.string().trim().min(1).max(1000))
      .optional()
      .describe('Required for a suspension. The owner sees this text, and the log keeps it.'),
    suspended: z.boolean().default(true).describe('False lifts the suspension.'),
    expected_revision: expectedRevision,
  })
  .refine(({ suspended, reason }) => !suspended || reason !== undefined, {
    path: ['reason'],
    error: 'A suspension needs a reason: the owner sees it.',
  })
  .meta({
    anyOf: [
      { required: ['reason'] },
      { required: ['suspended'], properties: { suspended: { const: false } } },
    ],
  })

export function suspend(registry: RegistryPort): Action<z.output<typeof Input>, EntryDetail> {
  return defineAction({
    name: 'suspend',
    title: 'Suspend an agent',
    description:
      'Removes an agent from every public view until an admin lifts the suspension. Its owner still sees it, with the reason, and may update or delete it.',
    input: input(Input),
    output: output(EntryDetail),
    access: { scope: 'admin' },
    effect: 'write',
    advertised: false,
    run: (request, { principal }) => registry.suspend(request, principal),
  })
}

export function listSuspensions(registry: RegistryPort): Action<SuspensionRange, SuspensionPage> {
  return defineAction({
    name: 'list_suspensions',
    title: 'List suspended agents',
    description:
      'The suspended agents, the newest suspension first: their owners, since when, why and by whom. Deleted ones too: their names stay reserved.',
    input: input(SuspensionRange),
    output: output(SuspensionPage),
    access: { scope: 'admin' },
    effect: 'read',
    advertised: false,
    run: (range) => registry.listSuspensions(range),
  })
}
