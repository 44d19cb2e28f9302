import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { cursor } from '../../schemas/paging.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { AuditEvent } from '../../schemas/trust.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
  limit: z.int().min(1).max(100).default(20),
  cursor,
})
const Output = z
  .object({ events: z.array(AuditEvent), next_cursor: z.string().nullable() })
  .meta({ id: 'AuditPage' })
type Output = z.infer<typeof Output>

export function audit(registry: RegistryPort): Action<z.output<typeof Input>, Output> {
  return defineAction({
    name: 'audit',
    title: 'Read the log of an agent',
    description:
      'Lists who did what to an agent, when, and the fields before and after, newest first. For its owner and admins; deleted agents too.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'agents:read' },
    effect: 'read',
    advertised: false,
    run: ({ agent, limit, cursor }, { principal }) => registry.audit(agent, limit, cursor, principal),
  })
}
