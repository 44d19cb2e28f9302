import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { ApiKey } from '../../schemas/identity.ts'
import { input, output } from '../../schemas/shape.ts'
import { requirePrincipal } from './caller.ts'
import type { IdentityPort } from './port.ts'

const Output = z.object({ keys: z.array(ApiKey) }).meta({ id: 'ApiKeyList' })
type Output = z.infer<typeof Output>

export function listKeys(identity: IdentityPort): Action<Record<string, never>, Output> {
  return defineAction({
    name: 'list_keys',
    title: 'List API keys',
    description: 'Your API keys, without their secrets; an admin sees the keys of all callers.',
    input: input(z.strictObject({})),
    output: output(Output),
    access: 'bearer',
    effect: 'read',
    advertised: false,
    run: async (_, { principal }) => ({ keys: await identity.listKeys(requirePrincipal(principal)) }),
  })
}
