import { hash } from 'node:crypto'
import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  dynamicClientRegistrationRequest,
  None,
  processDynamicClientRegistrationResponse,
} from 'oauth4webapi'
import { parse } from 'tldts'
import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { dayMilliseconds } from '../../common/days.ts'
import { httpUrl } from '../../common/http-url.ts'
import { isLoopbackUrl } from '../../common/loopback.ts'
import type { Records } from '../authorization-server/records.ts'
import { SecureUrl } from '../issuers.ts'
import { readJsonSetting, type SettingFault } from '../json-setting.ts'
import { requestOptions } from '../logins/code-login.ts'
import { readableAnswer } from './answer.ts'
import type { ServerMetadata } from './metadata.ts'

const methods = ['none', 'client_secret_basic', 'client_secret_post'] as const

/** This gateway as a client of an authorization server. */
export const UpstreamClient = z.object({
  client_id: z.string().min(1).max(2000),
  client_secret: z.string().min(1).max(2000).exactOptional(),
  token_endpoint_auth_method: z.enum(methods).exactOptional(),
})
export type UpstreamClient = z.infer<typeof UpstreamClient>

const Origin = SecureUrl.refine((text) => new URL(text).href === `${text}/`, {
  message: 'Use an origin, such as https://mcp.example.com.',
})
const OperatorClient = UpstreamClient.extend({
  issuer: SecureUrl,
  origins: z.array(Origin).min(1).exactOptional(),
}).strict()
type OperatorClient = z.infer<typeof OperatorClient>

/**
 * The clients of `DRAGOMAN_UPSTREAM_CLIENTS`: the path of a JSON file, or JSON. Throws Failure `invalid_request` that
 * names the invalid entry.
 */
export async function readUpstreamClients(setting: string | undefined): Promise<readonly OperatorClient[]> {
  if (setting === undefined) return []
  return await readJsonSetting(setting, z.array(OperatorClient), wrong)
}

function wrong(what: string, { cause }: SettingFault): Failure {
  const hint =
    'It is a list of {issuer, client_id, client_secret?, token_endpoint_auth_method?, origins?}, or the path of a file that holds one.'
  return new Failure('invalid_request', `DRAGOMAN_UPSTREAM_CLIENTS is invalid. ${what}`, { hint }, cause)
}

/** How the client shows a token endpoint who it is. */
export function authenticationOf({
  client_secret,
  token_endpoint_auth_method: method,
}: UpstreamClient): ClientAuth {
  if (client_secret === undefined || method === 'none') return None()
  return method === 'client_secret_post' ? ClientSecretPost(client_secret) : ClientSecretBasic(client_secret)
}

/** Names an issuer in paths. */
export function issuerKey(issuer: string): string {
  return hash('sha256', issuer, 'base64url').slice(0, 22)
}

export const connectPath = '/connections'

/**
 * The address to which an issuer sends browsers back. Each issuer has its own, so that none can pass on the answer of
 * another one (RFC 9700, section 4.4.2.2).
 */
export function callbackOf(base_url: string, issuer: string): string {
  return `${base_url}${connectPath}/callback/${issuerKey(issuer)}`
}

function documentOf(base_url: string, key: string): string {
  return `${base_url}${connectPath}/client/${key}`
}

/** The metadata document of this gateway as a client of the issuer of a key (OAuth Client ID Metadata Document). */
export function clientDocument(base_url: string, key: string): object {
  return {
    client_id: documentOf(base_url, key),
    ...metadataOf(base_url, `${base_url}${connectPath}/callback/${key}`),
  }
}

function metadataOf(base_url: string, redirect_uri: string) {
  return {
    client_name: 'Dragoman',
    client_uri: base_url,
    redirect_uris: [redirect_uri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: isLoopbackUrl(new URL(base_url)) ? 'native' : 'web',
  }
}

/**
 * True if the operator's client is for an agent at this URL: at one of its origins, else of the site of the issuer. Any
 * agent can name the issuer as its own, many issuers give tokens that count everywhere, and one that has asked its user
 * about a client does not ask again.
 */
function isFor({ issuer, origins }: OperatorClient, called: string): boolean {
  const url = httpUrl(called)
  return origins?.includes(url.origin) ?? siteOf(url) === siteOf(new URL(issuer))
}

/** The registrable domain of a URL, else its host. */
function siteOf({ hostname }: URL): string {
  return parse(hostname, { allowPrivateDomains: true }).domain ?? hostname
}

/** A registration is used for this long; then the gateway registers again. */
const registrationMilliseconds = 180 * dayMilliseconds

interface ClientsOptions {
  readonly fetch: typeof globalThis.fetch
  readonly records: Records
  readonly operator: readonly OperatorClient[]
  readonly base_url: () => string
  readonly clock: () => number
}

/** This gateway as a client of each authorization server, for the agent that is called at a URL. */
export interface Clients {
  isOperators(issuer: string, called: string): boolean
  /**
   * The operator's client for this agent, else a metadata document of ours where the server reads it, else a registration
   * (RFC 7591). Rejects where the server permits none.
   */
  of(server: ServerMetadata, called: string, signal: AbortSignal): Promise<UpstreamClient>
  /** Forgets a registration that its server does not know any more. */
  forget(server: ServerMetadata): Promise<void>
}

export function createClients({ fetch, records, operator, base_url, clock }: ClientsOptions): Clients {
  const ownClient = (issuer: string, called: string) =>
    operator.find((client) => client.issuer === issuer && isFor(client, called))
  const nameOf = ({ issuer, registration_endpoint }: ServerMetadata) =>
    JSON.stringify([issuer, registration_endpoint, base_url()])

  async function register(server: ServerMetadata, signal: AbortSignal): Promise<UpstreamClient> {
    const redirect_uri = callbackOf(base_url(), server.issuer)
    const response = await dynamicClientRegistrationRequest(
      server,
      metadataOf(base_url(), redirect_uri),
      requestOptions(fetch, signal),
    )
    const answered = await readableAnswer(response, 201)
    const registered = await processDynamicClientRegistrationResponse(answered)
    const client = UpstreamClient.parse(registered)
    const end = Number(registered.client_secret_expires_at ?? 0) * 1000
    const latest = clock() + registrationMilliseconds
    const expires_at = end > 0 ? Math.min(end, latest) : latest
    await records.put('UpstreamClient', nameOf(server), client, { expires_at })
    return client
  }

  return {
    isOperators: (issuer, called) => ownClient(issuer, called) !== undefined,
    async of(server, called, signal) {
      const own = ownClient(server.issuer, called)
      if (own) return UpstreamClient.parse(own)
      const url = new URL(base_url())
      if (server.client_id_metadata_document_supported && url.protocol === 'https:') {
        return { client_id: documentOf(base_url(), issuerKey(server.issuer)) }
      }
      const registered = await records.find<UpstreamClient>('UpstreamClient', nameOf(server))
      if (registered) return registered.document
      if (server.registration_endpoint !== undefined) return await register(server, signal)
      const isForOthers = operator.some(({ issuer }) => issuer === server.issuer)
      const lacking = isForOthers ? `name ${httpUrl(called).origin} among its origins in` : 'set'
      throw new Error(
        `${server.issuer} registers no clients by itself: the operator has to ${lacking} DRAGOMAN_UPSTREAM_CLIENTS.`,
      )
    },
    forget: (server) => records.remove('UpstreamClient', nameOf(server)),
  }
}
