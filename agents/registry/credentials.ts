import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Credential, CredentialInput, SignInAddress } from '../../schemas/credential.ts'
import { packageNameOf } from '../../schemas/names.ts'
import { AgentInput } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { requirePrincipal } from './caller.ts'
import type { CredentialsPort, RegistryPorts } from './port.ts'

const common = { access: { scope: 'a2a:call' }, advertised: false } as const

export function setCredential(credentials: CredentialsPort): Action<CredentialInput, Credential> {
  return defineAction({
    ...common,
    name: 'set_credential',
    title: 'Store your credential for an agent',
    description:
      'Stores your credential for a listed agent, encrypted. The gateway sends it when you call that agent, only to that address.',
    input: input(CredentialInput),
    output: output(Credential),
    effect: 'write',
    secret: true,
    run: (request, { principal }) => credentials.set(request, requirePrincipal(principal)),
  })
}

const Listed = z.object({ credentials: z.array(Credential) }).meta({ id: 'CredentialList' })
type Listed = z.infer<typeof Listed>

export function listCredentials(credentials: CredentialsPort): Action<Record<string, never>, Listed> {
  return defineAction({
    ...common,
    name: 'list_credentials',
    title: 'List your credentials',
    description:
      'The agents for which you have stored a credential, or to which you have signed in; no secret is shown.',
    input: input(z.strictObject({})),
    output: output(Listed),
    effect: 'read',
    run: async (_, { principal }) => ({ credentials: await credentials.list(requirePrincipal(principal)) }),
  })
}

export function deleteCredential(credentials: CredentialsPort): Action<AgentInput, Record<string, never>> {
  return defineAction({
    ...common,
    name: 'delete_credential',
    title: 'Delete your credential for an agent',
    description:
      'Deletes your credential for an agent. The tokens of a sign-in end at their authorization server too.',
    input: input(AgentInput),
    output: output(z.strictObject({})),
    effect: 'write',
    async run({ agent }, { principal }) {
      await credentials.remove(packageNameOf(agent), requirePrincipal(principal))
      return {}
    },
  })
}

export function connectAgent(connect: RegistryPorts['connect']): Action<AgentInput, SignInAddress> {
  return defineAction({
    ...common,
    name: 'connect_agent',
    title: 'Sign in to an agent',
    description:
      'Answers an address at which you sign in, in a browser, to an agent that asks for a sign-in (OAuth). The tokens stay in the gateway.',
    input: input(AgentInput),
    output: output(SignInAddress),
    effect: 'call',
    deadline_ms: 40_000,
    run: ({ agent }, { principal, signal }) =>
      connect(packageNameOf(agent), requirePrincipal(principal), signal),
  })
}
