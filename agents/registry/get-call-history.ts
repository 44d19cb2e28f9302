import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { CallHistory } from '../../schemas/calls.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { requirePrincipal } from './caller.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
  days: z.int().min(1).max(366).default(30).describe('Days that end today, in UTC.'),
})

export function getCallHistory(registry: RegistryPort): Action<z.output<typeof Input>, CallHistory> {
  return defineAction({
    name: 'get_call_history',
    title: 'Get the calls of an agent by days',
    description:
      'How often an agent was called through this registry on each day, and how the calls ended. For its owner and admins.',
    input: input(Input),
    output: output(CallHistory),
    access: { scope: 'agents:read' },
    effect: 'read',
    advertised: false,
    run: ({ agent, days }, { principal }) => registry.callHistory(agent, days, requirePrincipal(principal)),
  })
}
