import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { agentReference, expectedRevision } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
  subject: z.string().min(1).max(200).describe('Subject of the tokens of the new owner.'),
  issuer: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe("Issuer of those tokens; this gateway's own when absent."),
  expected_revision: expectedRevision,
})
const Output = z.object({ id: z.uuid(), package_name: z.string(), revision: z.int() })
type Output = z.infer<typeof Output>

export function transfer(registry: RegistryPort): Action<z.output<typeof Input>, Output> {
  return defineAction({
    name: 'transfer',
    title: 'Transfer an agent',
    description:
      'Gives an agent to another owner, at once and with its history. A domain proof of the old owner ends; the new owner must prove the domain again.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'agents:publish' },
    effect: 'write',
    advertised: false,
    run: ({ subject, issuer, ...change }, { principal }) =>
      registry.transfer(change, { subject, issuer }, principal),
  })
}
