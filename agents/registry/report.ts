import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { visible } from '../../schemas/text.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
  reason: z.enum(['malicious', 'impersonation', 'misleading', 'broken', 'other']),
  detail: visible(z.string().trim().min(1).max(2000)).optional().describe('What you saw, and where.'),
})

export function report(registry: RegistryPort): Action<z.output<typeof Input>, Record<string, never>> {
  return defineAction({
    name: 'report',
    title: 'Report an agent',
    description:
      'Reports a problem with an agent to the owner and the admins. Only admins see the reporter. A caller may report an agent once a day.',
    input: input(Input),
    output: output(z.strictObject({})),
    access: 'bearer',
    effect: 'write',
    advertised: false,
    async run(request, { principal }) {
      await registry.report(request, principal)
      return {}
    },
  })
}
