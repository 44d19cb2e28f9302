import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { RevocationInput, type RevocationKind } from '../../schemas/identity.ts'
import type { Principal } from '../../schemas/scope.ts'
import { input, output } from '../../schemas/shape.ts'
import { requireDeleter } from './caller.ts'
import type { IdentityPort } from './port.ts'

const Output = z.object({ revoked: z.enum(['jti', 'subject', 'kid', 'key']) })

export function revoke(identity: IdentityPort): Action<RevocationInput, { revoked: RevocationKind }> {
  return defineAction({
    name: 'revoke',
    title: 'Revoke credentials',
    description:
      'Revokes a token, everything issued to a subject until now, an API key or a signing key. You may revoke your own credentials; an admin may revoke all.',
    input: input(RevocationInput),
    output: output(Output),
    access: 'bearer',
    effect: 'write',
    advertised: false,
    run: (request, { principal }) => identity.revoke(request, revokerOf(request, principal)),
  })
}

/** An application may always end its own token. */
function revokerOf({ jti }: RevocationInput, principal: Principal | null): Principal {
  const isOwn = jti !== undefined && principal?.credential?.jti === jti
  return isOwn ? principal : requireDeleter(principal)
}
