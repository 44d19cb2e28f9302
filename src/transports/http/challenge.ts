import type { IncomingMessage } from 'node:http'
import type { Failure } from '../../../schemas/failure.ts'
import type { Door } from '../door.ts'
import { metadataUrl, resourcePaths } from './resources.ts'

/**
 * The WWW-Authenticate header of a refusal, at every HTTP door and for refused upgrades (RFC 6750 section 3, RFC
 * 9728 section 5.1): bare without credentials, the reason for bad ones, the scope that lacks.
 */
export function challenge(
  door: Pick<Door, 'site'>,
  request: IncomingMessage,
  { code, message, details }: Failure,
): Record<string, string> {
  const lacking = code === 'forbidden' && details.scope !== undefined
  if (code !== 'unauthenticated' && !lacking) return {}
  const parts = {
    realm: 'dragoman',
    ...(lacking && { error: 'insufficient_scope' }),
    ...(!lacking &&
      hasCredentials(request) && {
        error: 'invalid_token',
        error_description: message.replace(/[^\x20-\x7e]|["\\]/g, "'"),
      }),
    ...(details.scope && { scope: details.scope }),
    resource_metadata: metadataUrl(door.site().base_url, resourceOf(request)),
  }
  const text = Object.entries(parts).map(([name, value]) => `${name}="${value}"`)
  return { 'WWW-Authenticate': `Bearer ${text.join(', ')}` }
}

function hasCredentials({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined || /bearer\./.test(headers['sec-websocket-protocol'] ?? '')
}

/** The published resource that was asked for; the gateway as a whole for every other path. */
function resourceOf({ url = '' }: IncomingMessage): string {
  const path = url.split('?', 1)[0] ?? ''
  return resourcePaths.find((one) => one === path) ?? ''
}
