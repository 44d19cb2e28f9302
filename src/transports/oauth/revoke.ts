import { Failure } from '../../../schemas/failure.ts'
import type { Revoke } from '../../auth/revoker.ts'
import type { Mount } from '../http/app.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { clientEndpoint, type EndpointOptions } from './endpoint.ts'
import { OAuthRefusal } from './refusal.ts'

export interface RevocationEndpointOptions extends EndpointOptions {
  readonly revoke: Revoke
}

/** `POST /oauth/revoke` (RFC 7009): a client ends a token of its own; one that holds no longer is no error. */
export function revocationEndpoint({ revoke, ...options }: RevocationEndpointOptions): Mount {
  return clientEndpoint('/oauth/revoke', options, async (form, client) => {
    const token = form.get('token')
    if (token === null) throw new OAuthRefusal('invalid_request', 'The parameter token is missing.')
    if (await isGood(options.context, token)) await revoke({ token }, client)
    return ''
  })
}

async function isGood({ authenticate }: TransportContext, token: string): Promise<boolean> {
  try {
    await authenticate(token)
    return true
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === 'unauthenticated') return false
    throw thrown
  }
}
