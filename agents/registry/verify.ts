import type { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Change } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { ProofRequest, VerificationOutcome } from '../../schemas/trust.ts'
import type { RegistryPort } from './port.ts'

const Input = ProofRequest.extend(Change.shape)
type Input = z.infer<typeof Input>

export function verify(registry: RegistryPort): Action<Input, VerificationOutcome> {
  return defineAction({
    ...proves,
    name: 'verify',
    title: 'Verify the domain of an agent',
    description:
      'Checks for a proof that the owner controls the domain in the name of an agent: a DNS record, a file of the site, or the record of the MCP registry with a signature. Without a proof it answers with the records to publish.',
    run: (request, { principal, signal }) => registry.verify(request, principal, signal),
  })
}

export function claim(registry: RegistryPort): Action<Input, VerificationOutcome> {
  return defineAction({
    ...proves,
    name: 'claim',
    title: 'Claim an agent without a proved owner',
    description:
      'Makes the caller the owner of an agent that has no owner, or whose owner did not prove the domain of its name: by the same proofs as verify, or by a namespace claim that covers the name.',
    run: (request, { principal, signal }) => registry.claim(request, principal, signal),
  })
}

const proves = {
  input: input(Input),
  output: output(VerificationOutcome),
  access: { scope: 'agents:publish' },
  effect: 'write',
  advertised: false,
  deadline_ms: 20_000,
} as const
