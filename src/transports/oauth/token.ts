import { holds, type Principal, Scope } from '../../../schemas/scope.ts'
import type { Mint } from '../../auth/minter.ts'
import type { Mount } from '../http/app.ts'
import { resourcesOf } from '../http/resources.ts'
import { clientEndpoint, type EndpointOptions } from './endpoint.ts'
import { OAuthRefusal } from './refusal.ts'

export interface TokenEndpointOptions extends EndpointOptions {
  readonly mint: Mint
}

/** `POST /oauth/token`: an hour's token for an API key (RFC 6749 section 4.4). */
export function tokenEndpoint({ mint, ...options }: TokenEndpointOptions): Mount {
  return clientEndpoint('/oauth/token', options, async (form, holder) => {
    assertGrant(form.get('grant_type'))
    const scopes = scopesFor(holder, form.get('scope'))
    const audience = audienceFor(form.getAll('resource'), options.context.site().base_url)
    const token = await mint(holder, scopes, audience)
    return JSON.stringify({ ...token, token_type: 'Bearer', scope: scopes.join(' ') })
  })
}

function assertGrant(type: string | null): void {
  if (type === null) throw new OAuthRefusal('invalid_request', 'The parameter grant_type is missing.')
  if (type === 'client_credentials') return
  throw new OAuthRefusal('unsupported_grant_type', 'The one grant here is client_credentials.')
}

function scopesFor(holder: Principal, requested: string | null): Scope[] {
  if (requested === null) return [...holder.scopes]
  return [...new Set(requested.split(' ').filter(Boolean))].map((word) => {
    const scope = Scope.safeParse(word)
    if (scope.success && holds(holder, scope.data)) return scope.data
    throw new OAuthRefusal('invalid_scope', 'The API key does not have every scope that is asked for.')
  })
}

/** RFC 8707: whom the token is for; nobody named is the gateway as a whole. */
function audienceFor(requested: readonly string[], baseUrl: string): string[] {
  const ours = resourcesOf(baseUrl)
  if (requested.every((resource) => ours.includes(resource))) return [...new Set(requested)]
  throw new OAuthRefusal('invalid_target', `A resource is none of ours; there are ${ours.join(', ')}.`)
}
