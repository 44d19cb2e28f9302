import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { ReportInput } from '../../schemas/moderation.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

export function report(registry: RegistryPort): Action<ReportInput, Record<string, never>> {
  return defineAction({
    name: 'report',
    title: 'Report an agent',
    description:
      'Reports a problem with an agent to the owner and the admins. Only admins see the reporter. A caller may report an agent once a day.',
    input: input(ReportInput),
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
