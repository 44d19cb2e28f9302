import { Failure } from '../../../schemas/failure.ts'
import type { Revoke } from '../../auth/revoker.ts'
import { clientOf } from '../client.ts'
import type { Door } from '../door.ts'
import type { Mount } from '../http/app.ts'
import { send } from '../http/respond.ts'
import { authenticateClient } from './client.ts'
import { readForm } from './form.ts'
import { noStore, OAuthRefusal, refuse } from './refusal.ts'

export interface RevocationEndpointOptions {
  readonly door: Door
  readonly revoke: Revoke
  readonly count: (client: string) => void
}

/** `POST /oauth/revoke` (RFC 7009): a client ends a token of its own; one that holds no longer is no error. */
export function revocationEndpoint({ door, revoke, count }: RevocationEndpointOptions): Mount {
  return {
    method: 'post',
    path: '/oauth/revoke',
    async handler(request, response) {
      try {
        count(clientOf(door, request))
        const form = await readForm(request)
        const client = await authenticateClient(door, request, form)
        const token = form.get('token')
        if (token === null) throw new OAuthRefusal('invalid_request', 'The parameter token is missing.')
        if (await isGood(door, token)) await revoke({ token }, client)
        send(request, response, 200, '', noStore)
      } catch (thrown) {
        refuse(door, request, response, thrown)
      }
    },
  }
}

async function isGood({ authenticate }: Door, token: string): Promise<boolean> {
  try {
    await authenticate(token)
    return true
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === 'unauthenticated') return false
    throw thrown
  }
}
