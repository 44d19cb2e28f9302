import type { ServerResponse } from 'node:http'
import type { JWK } from 'jose'
import { resourcePaths } from '../../../schemas/scope.ts'
import { deviceGrant } from '../../auth/authorization-server/clients.ts'
import { defaultScopes, offeredScopes } from '../../auth/authorization-server/offered-scopes.ts'
import type { Mount } from '../http/app.ts'
import { send } from '../http/respond.ts'
import { corsHeaders, type Handler } from '../http/rest.ts'
import type { TransportContext } from '../shared/transport-context.ts'

export interface MetadataOptions {
  readonly context: Pick<TransportContext, 'site'>
  /** Public keys that verify the gateway's tokens. */
  readonly published: () => Promise<readonly JWK[]>
  /** Other issuers whose tokens are accepted. */
  readonly external: readonly string[]
  /** True if a client may be the address of its metadata. */
  readonly readsClientDocuments: boolean
}

/** The discovery documents of OAuth: keys, authorization server, protected resources. */
export function metadataMounts({
  context,
  published,
  external,
  readsClientDocuments,
}: MetadataOptions): Mount[] {
  const base = () => context.site().base_url
  const prefix = prefixOf(base())
  // If the base URL's path is also that of a resource, the suffix of the base URL wins: RFC 9728 section 3.1.
  const suffixes = new Map(
    ['', prefix].flatMap((before) => resourcePaths.map((path) => [before + path, path] as const)),
  )
  const mounts = (kind: string, document: (resource: string, path: string) => unknown) =>
    [...suffixes].map(([suffix, path]): Mount => {
      const handler: Handler = async (request, response) =>
        answer(request, response, document(`${base()}${path}`, path))
      return { method: 'get', path: `/.well-known/${kind}${literal(suffix)}`, open: true, handler }
    })

  return [
    {
      method: 'get',
      path: '/.well-known/jwks.json',
      open: true,
      handler: async (request, response) => answer(request, response, { keys: await published() }),
    },
    ...mounts('oauth-authorization-server', () => authorizationServer(base(), readsClientDocuments)),
    ...mounts('oauth-protected-resource', (resource, path) => ({
      resource,
      resource_name: 'Dragoman',
      authorization_servers: [base(), ...external],
      bearer_methods_supported: ['header'],
      // Hosts ask their user for all of these, and models change nothing here: see `assertForModels`.
      scopes_supported: path === '/mcp' ? defaultScopes : offeredScopes,
    })),
  ]
}

/** RFC 8414. It names only what works. */
function authorizationServer(issuer: string, readsClientDocuments: boolean): unknown {
  const methods = ['none', 'client_secret_basic']
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    token_endpoint_auth_methods_supported: methods,
    registration_endpoint: `${issuer}/oauth/register`,
    device_authorization_endpoint: `${issuer}/oauth/device/code`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: methods,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    grant_types_supported: ['authorization_code', 'refresh_token', deviceGrant, 'client_credentials'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: offeredScopes,
    ...(readsClientDocuments && { client_id_metadata_document_supported: true }),
  }
}

function answer(request: Parameters<Handler>[0], response: ServerResponse, document: unknown): void {
  const headers = {
    ...corsHeaders,
    'Content-Type': 'application/json',
    'Cache-Control': 'public, max-age=300',
  }
  send(request, response, 200, JSON.stringify(document), headers)
}

function prefixOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '')
}

/** Escapes the characters of a base URL that Express reads as a pattern. */
function literal(path: string): string {
  return path.replace(/[(){}[\]?+!*:\\]/g, '\\$&')
}
