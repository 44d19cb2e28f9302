import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { wholeKey } from '../../../schemas/identity.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { OAuthRefusal } from './refusal.ts'

/**
 * Authenticates by `client_secret_basic`: the client id is the id of an API key, the secret is the whole key.
 * Throws OAuthRefusal `invalid_client`.
 */
export async function authenticateClient(
  context: Pick<TransportContext, 'authenticate'>,
  request: IncomingMessage,
  form: URLSearchParams,
): Promise<Principal> {
  const { id, secret } = credentialsIn(request.headers.authorization)
  const stated = form.get('client_id')
  if (wholeKey.exec(secret)?.[1] !== id || (stated !== null && stated !== id)) throw unknownClient()
  try {
    return await context.authenticate(secret)
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === 'unauthenticated') throw unknownClient()
    throw thrown
  }
}

/** RFC 6749 section 2.3.1: both halves are percent-encoded before they are joined. */
function credentialsIn(header: string | undefined): { id: string; secret: string } {
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) {
    throw new OAuthRefusal(
      'invalid_client',
      'Authenticate with HTTP Basic: the id of an API key, and the whole key.',
    )
  }
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const at = text.indexOf(':')
  if (at < 0) throw unknownClient()
  return { id: decode(text.slice(0, at)), secret: decode(text.slice(at + 1)) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw unknownClient()
  }
}

function unknownClient(): OAuthRefusal {
  return new OAuthRefusal('invalid_client', 'The client is unknown, or its secret is wrong.')
}
