import type { ServerResponse } from 'node:http'
import type { JWK } from 'jose'
import { resourcePaths, scopes } from '../../../schemas/scope.ts'
import type { Mount } from '../http/app.ts'
import { send } from '../http/respond.ts'
import { corsHeaders, type Handler } from '../http/rest.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { noStore } from './refusal.ts'

export interface MetadataOptions {
  readonly context: Pick<TransportContext, 'site'>
  /** Public keys that verify the gateway's tokens. */
  readonly published: () => Promise<readonly JWK[]>
  /** Other issuers whose tokens are accepted. */
  readonly external: readonly string[]
}

/** The discovery documents of OAuth: keys, authorization server, protected resources. */
export function metadataMounts({ context, published, external }: MetadataOptions): Mount[] {
  const base = () => context.site().base_url
  const prefix = prefixOf(base())
  // If the base URL's path is also that of a resource, the suffix of the base URL wins: RFC 9728 section 3.1.
  const suffixes = new Map(
    ['', prefix].flatMap((before) => resourcePaths.map((path) => [before + path, path] as const)),
  )
  const mounts = (kind: string, document: (resource: string) => unknown) =>
    [...suffixes].map(([suffix, path]): Mount => {
      const handler: Handler = async (request, response) =>
        answer(request, response, document(`${base()}${path}`))
      return { method: 'get', path: `/.well-known/${kind}${literal(suffix)}`, open: true, handler }
    })

  return [
    {
      method: 'get',
      path: '/.well-known/jwks.json',
      open: true,
      handler: async (request, response) => answer(request, response, { keys: await published() }),
    },
    {
      method: 'get',
      path: '/oauth/authorize',
      handler: async (request, response) => noSignIn(request, response),
    },
    ...mounts('oauth-authorization-server', () => authorizationServer(base())),
    ...mounts('oauth-protected-resource', (resource) => ({
      resource,
      resource_name: 'Dragoman',
      authorization_servers: [base(), ...external],
      bearer_methods_supported: ['header'],
      scopes_supported: scopes.filter((scope) => scope !== 'admin'),
    })),
  ]
}

/**
 * RFC 8414. There are no response types, since users cannot sign in at the gateway; MCP clients reject metadata
 * without the endpoint.
 */
function authorizationServer(issuer: string): unknown {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    revocation_endpoint: `${issuer}/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: ['client_secret_basic'],
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    scopes_supported: scopes,
  }
}

/** RFC 6749 section 4.1.2.1: answers directly, without a redirect. */
function noSignIn(request: Parameters<Handler>[0], response: ServerResponse): void {
  const body = {
    error: 'unsupported_response_type',
    error_description:
      'Users cannot sign in here. Programs use the token endpoint; people use the issuer of their organisation.',
  }
  send(request, response, 400, JSON.stringify(body), noStore)
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
