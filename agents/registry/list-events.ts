import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { cursor } from '../../schemas/paging.ts'
import { input, output } from '../../schemas/shape.ts'
import { RegistryEvent } from '../../schemas/trust.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  action: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Only events of this action, such as report, suspend or publish.'),
  limit: z.int().min(1).max(100).default(20),
  cursor,
})
const Output = z
  .object({ events: z.array(RegistryEvent), next_cursor: z.string().nullable() })
  .meta({ id: 'RegistryEventPage' })
type Output = z.infer<typeof Output>

export function listEvents(registry: RegistryPort): Action<z.output<typeof Input>, Output> {
  return defineAction({
    name: 'list_events',
    title: 'Read the log of all agents',
    description:
      'Lists who did what to any agent, when, and the fields before and after, newest first: reports of problems, suspensions and every other change. For admins.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'admin' },
    effect: 'read',
    advertised: false,
    run: (query) => registry.auditOfAll(query),
  })
}
