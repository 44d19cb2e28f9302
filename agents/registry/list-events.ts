import { type Action, defineAction } from '../../schemas/action.ts'
import { RegistryEventPage, RegistryEventRange } from '../../schemas/audit.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

export function listEvents(registry: RegistryPort): Action<RegistryEventRange, RegistryEventPage> {
  return defineAction({
    name: 'list_events',
    title: 'Read the audit log of all agents',
    description:
      'Lists who did what to any agent, when, and the fields before and after, newest first: reports of problems, suspensions and every other change. For admins.',
    input: input(RegistryEventRange),
    output: output(RegistryEventPage),
    access: { scope: 'admin' },
    effect: 'read',
    advertised: false,
    run: (range) => registry.auditOfAll(range),
  })
}
