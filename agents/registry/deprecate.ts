import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { agentReference, expectedRevision } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { visible } from '../../schemas/text.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
  deprecated: z.boolean().default(true).describe('False withdraws the deprecation.'),
  message: visible(z.string().trim().min(1).max(500)).optional().describe('All callers see this text.'),
  successor: agentReference.optional().describe('A listed agent that replaces it.'),
  expected_revision: expectedRevision,
})

export function deprecate(registry: RegistryPort): Action<z.output<typeof Input>, EntryDetail> {
  return defineAction({
    name: 'deprecate',
    title: 'Deprecate an agent',
    description:
      'Marks an agent as not for new use and names its replacement. It ranks below other agents that match as well, and still answers.',
    input: input(Input),
    output: output(EntryDetail),
    access: { scope: 'agents:publish' },
    effect: 'write',
    advertised: false,
    run: (request, { principal }) => registry.deprecate(request, principal),
  })
}
