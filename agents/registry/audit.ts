import { type Action, defineAction } from '../../schemas/action.ts'
import { AuditPage, AuditRange } from '../../schemas/audit.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

export function audit(registry: RegistryPort): Action<AuditRange, AuditPage> {
  return defineAction({
    name: 'audit',
    title: 'Read the audit log of an agent',
    description:
      'Lists who did what to an agent, when, and the fields before and after, newest first. For its owner and admins; deleted agents too.',
    input: input(AuditRange),
    output: output(AuditPage),
    access: { scope: 'agents:read' },
    effect: 'read',
    advertised: false,
    run: (range, { principal }) => registry.audit(range, principal),
  })
}
