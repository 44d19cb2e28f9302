import { type Action, defineAction } from '../../schemas/action.ts'
import { KeyInput, NewApiKey } from '../../schemas/identity.ts'
import { input, output } from '../../schemas/shape.ts'
import { requirePrincipal } from './caller.ts'
import type { IdentityPort } from './port.ts'

export function createKey(identity: IdentityPort): Action<KeyInput, NewApiKey> {
  return defineAction({
    name: 'create_key',
    title: 'Create an API key',
    description:
      'Creates a long-lived key that acts as you, with at most your rights. The key itself is returned only this once.',
    input: input(KeyInput),
    output: output(NewApiKey),
    access: 'bearer',
    effect: 'write',
    secret: true,
    advertised: false,
    run: (request, { principal }) => identity.createKey(request, requirePrincipal(principal)),
  })
}
