import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { LivenessHistory } from '../../schemas/liveness.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
  days: z.int().min(1).max(366).default(90).describe('Days that end today, in UTC.'),
})

export function getLivenessHistory(registry: RegistryPort): Action<z.output<typeof Input>, LivenessHistory> {
  return defineAction({
    name: 'get_liveness_history',
    title: 'Get the liveness of an agent by days',
    description: 'How many probes an agent answered on each day, and how fast.',
    input: input(Input),
    output: output(LivenessHistory),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: ({ agent, days }, { principal }) => registry.livenessHistory(agent, days, principal),
  })
}
