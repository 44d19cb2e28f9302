import type { IncomingMessage } from 'node:http'
import { decodeJwt } from 'jose'
import { Failure } from '../../../schemas/failure.ts'
import { holds, type Principal, resourcePaths, Scope } from '../../../schemas/scope.ts'
import type { AuthorizationServer } from '../../auth/authorization-server/authorization-server.ts'
import { grantsOfPeople } from '../../auth/authorization-server/clients.ts'
import type { Mint } from '../../auth/minter.ts'
import { resourceNamed } from '../../auth/resources.ts'
import type { Revoke } from '../../auth/revoker.ts'
import type { Mount } from '../http/app.ts'
import { readFormBody } from '../http/body.ts'
import { send } from '../http/respond.ts'
import { corsHeaders } from '../http/rest.ts'
import { clientOf } from '../shared/client-address.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { authenticateClient } from './client.ts'
import { type ConnectOptions, connectMounts } from './connect.ts'
import { type MetadataOptions, metadataMounts } from './metadata.ts'
import { type ProtocolOptions, protocolMounts } from './protocol.ts'
import { noStore, OAuthRefusal, refuse } from './refusal.ts'
import { type SignInOptions, signInMounts } from './sign-in.ts'

interface EndpointOptions {
  readonly context: TransportContext
  /** The authorization server for people, which answers the requests of their clients. */
  readonly server: AuthorizationServer
  /** Counts one request of this client address. Throws Failure `rate_limited`. */
  readonly count: (client: string) => void
}

interface ClientEndpoint {
  readonly path: string
  /** True for a form of a client that acts for a person. */
  readonly isOfPeople: (form: URLSearchParams, request: IncomingMessage) => boolean
  /** True if the answer was given before the authorization server for people is needed. */
  readonly answersPeople?: (form: URLSearchParams) => Promise<boolean>
  /** Returns the JSON text of the answer for a program, or throws. */
  readonly answer: (form: URLSearchParams, client: Principal) => Promise<string>
}

/** A path that OAuth clients post forms to. */
function clientEndpoint(
  { context, server, count }: EndpointOptions,
  { path, isOfPeople, answersPeople, answer }: ClientEndpoint,
): Mount {
  return {
    method: 'post',
    path,
    open: true,
    async handler(request, response) {
      try {
        count(clientOf(context, request).address)
        const form = await readForm(request)
        if (isOfPeople(form, request)) {
          if (await answersPeople?.(form)) send(request, response, 200, '', { ...noStore, ...corsHeaders })
          else await server.answer(request, response, form.toString())
          return
        }
        const client = await authenticateClient(context, request, form)
        send(request, response, 200, await answer(form, client), noStore)
      } catch (thrown) {
        refuse(context, request, response, thrown)
      }
    },
  }
}

/**
 * The fields of a form, without empty ones. Each occurs once, except `resource` (RFC 6749 section 3.2, RFC 8707
 * section 2).
 */
async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const form = new URLSearchParams((await readFormBody(request)).toString('utf8'))
  const once = [...form.keys()].filter((name) => name !== 'resource')
  if (new Set(once).size < once.length) {
    throw new OAuthRefusal('invalid_request', 'A parameter is given more than once.')
  }
  return new URLSearchParams([...form].filter(([, value]) => value !== ''))
}

interface TokenEndpointOptions extends EndpointOptions {
  readonly mint: Mint
}

/** `POST /oauth/token`: an hour's token for an API key (RFC 6749 section 4.4). */
function tokenEndpoint({ mint, ...options }: TokenEndpointOptions): Mount {
  return clientEndpoint(options, {
    path: '/oauth/token',
    isOfPeople: (form) => grantsOfPeople.has(form.get('grant_type') ?? ''),
    async answer(form, holder) {
      assertGrant(form.get('grant_type'))
      const scopes = scopesFor(holder, form.get('scope'))
      const audience = audienceFor(form.getAll('resource'), options.context.site().base_url)
      const token = await mint(holder, scopes, audience)
      return JSON.stringify({ ...token, token_type: 'Bearer', scope: scopes.join(' ') })
    },
  })
}

function assertGrant(type: string | null): void {
  if (type === null) throw new OAuthRefusal('invalid_request', 'The parameter grant_type is missing.')
  if (type === 'client_credentials') return
  throw new OAuthRefusal(
    'unsupported_grant_type',
    `The supported grants are ${[...grantsOfPeople].join(', ')} and client_credentials.`,
  )
}

function scopesFor(holder: Principal, requested: string | null): Scope[] {
  if (requested === null) return [...holder.scopes]
  return [...new Set(requested.split(' ').filter(Boolean))].map((word) => {
    const scope = Scope.safeParse(word)
    if (scope.success && holds(holder, scope.data)) return scope.data
    throw new OAuthRefusal('invalid_scope', 'The API key lacks a requested scope.')
  })
}

/** RFC 8707: the audience of the token; empty for every resource when absent. */
function audienceFor(requested: readonly string[], baseUrl: string): string[] {
  const named = requested.map((address) => {
    const resource = resourceNamed(address, baseUrl)
    if (resource !== undefined) return baseUrl + resource
    const ours = resourcePaths.map((path) => baseUrl + path).join(', ')
    throw new OAuthRefusal('invalid_target', `A requested resource is unknown; the resources are ${ours}.`)
  })
  return [...new Set(named)]
}

interface RevocationEndpointOptions extends EndpointOptions {
  readonly revoke: Revoke
}

/**
 * `POST /oauth/revoke` (RFC 7009): a client revokes one of its own tokens. A token that is no longer valid is not an
 * error.
 */
function revocationEndpoint({ revoke, ...options }: RevocationEndpointOptions): Mount {
  return clientEndpoint(options, {
    path: '/oauth/revoke',
    isOfPeople: (form, { headers }) => headers.authorization === undefined && form.has('client_id'),
    answersPeople: (form) => endAccessToken(form, { ...options, revoke }),
    async answer(form, client) {
      const token = form.get('token')
      if (token === null) throw new OAuthRefusal('invalid_request', 'The parameter token is missing.')
      if (await isGood(options.context, token)) await revoke({ token }, client)
      return ''
    },
  })
}

/** Access tokens are signed and not stored: the authorization server would not find them. */
async function endAccessToken(
  form: URLSearchParams,
  { context, revoke }: Pick<RevocationEndpointOptions, 'context' | 'revoke'>,
): Promise<boolean> {
  const token = form.get('token') ?? ''
  if (token.split('.').length !== 3) return false
  if (!(await isGood(context, token))) return true
  if (decodeJwt(token).client_id !== form.get('client_id')) {
    throw new OAuthRefusal('invalid_request', 'The token is one of another client.')
  }
  await revoke({ token }, await context.authenticate(token))
  return true
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

/** OAuth 2.1: the endpoints for programs and for people, the pages, and the metadata. */
export function oauthMounts(
  options: MetadataOptions &
    RevocationEndpointOptions &
    TokenEndpointOptions &
    ProtocolOptions &
    SignInOptions &
    ConnectOptions,
): Mount[] {
  return [
    tokenEndpoint(options),
    revocationEndpoint(options),
    ...protocolMounts(options),
    ...signInMounts(options),
    ...connectMounts(options),
    ...metadataMounts(options),
  ]
}
