import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { agentReference, expectedRevision } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { visible } from '../../schemas/text.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
  deprecated: z.boolean().default(true).describe('False takes it back.'),
  message: visible(z.string().trim().min(1).max(500)).optional().describe('Shown to everybody.'),
  successor: agentReference.optional().describe('A listed agent that takes its place.'),
  expected_revision: expectedRevision,
})

export function deprecate(registry: RegistryPort): Action<z.output<typeof Input>, EntryDetail> {
  return defineAction({
    name: 'deprecate',
    title: 'Deprecate an agent',
    description:
      'Says that nobody should begin to use an agent, and which one takes its place. It is found after others that fit as well, and still answers.',
    input: input(Input),
    output: output(EntryDetail),
    access: { scope: 'agents:publish' },
    effect: 'write',
    advertised: false,
    run: (request, { principal }) => registry.deprecate(request, principal),
  })
}
