import type { IncomingMessage } from 'node:http'
import type { Failure } from '../../../schemas/failure.ts'
import type { ResourcePath } from '../../../schemas/scope.ts'
import { defaultScopes } from '../../auth/authorization-server/offered-scopes.ts'
import { resourceAt } from '../../auth/resources.ts'
import type { TransportContext } from '../shared/transport-context.ts'

/**
 * The WWW-Authenticate header of a refusal, for HTTP requests and upgrades (RFC 6750 section 3, RFC 9728 section
 * 5.1). It names no error if the request had no credentials, else the reason or the missing scope.
 */
export function challenge(
  context: Pick<TransportContext, 'site'>,
  request: IncomingMessage,
  failure: Failure,
): Record<string, string> {
  if (!isChallenge(failure)) return {}
  const { code, message, details } = failure
  const lacking = code === 'forbidden'
  const resource = resourceAt(request.url)
  const parts = {
    realm: 'dragoman',
    ...(lacking && { error: 'insufficient_scope' }),
    ...(!lacking &&
      hasCredentials(request) && {
        error: 'invalid_token',
        error_description: message.replace(/[^\x20-\x7e]|["\\]/g, "'"),
      }),
    ...(details.scope && { scope: lacking ? details.scope : scopesToRequest(resource, details.scope) }),
    resource_metadata: metadataUrl(context.site().base_url, resource),
  }
  const text = Object.entries(parts).map(([name, value]) => `${name}="${value}"`)
  return { 'WWW-Authenticate': `Bearer ${text.join(', ')}` }
}

/** A host signs in at the call of one tool. It requests what the other tools need too, so that its user decides once. */
function scopesToRequest(resource: ResourcePath, scope: string): string {
  return resource === '/mcp' ? [...new Set([...defaultScopes, scope])].join(' ') : scope
}

/** True if another token would be accepted: the request had no token, an invalid one, or one without the scope. */
export function isChallenge({ code, details }: Failure): boolean {
  return code === 'unauthenticated' || (code === 'forbidden' && details.scope !== undefined)
}

function hasCredentials({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined || /bearer\./.test(headers['sec-websocket-protocol'] ?? '')
}

/** The address of a resource's metadata: the well-known part comes between host and path (RFC 9728 section 3.1). */
function metadataUrl(baseUrl: string, path: string): string {
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname === '/' ? '' : pathname
  return `${origin}/.well-known/oauth-protected-resource${prefix}${path}`
}
