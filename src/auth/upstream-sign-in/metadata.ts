import {
  discoveryRequest,
  processDiscoveryResponse,
  processResourceDiscoveryResponse,
  type AuthorizationServer as StatedServer,
} from 'oauth4webapi'
import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { SecureUrl } from '../issuers.ts'
import { requestOptions } from '../logins/code-login.ts'

const Endpoint = SecureUrl.max(2000)
const Words = z.array(z.string().max(200)).max(200)

/** What this gateway needs of the metadata of an authorization server (RFC 8414, OpenID Connect Discovery 1.0). */
export const ServerMetadata = z.object({
  issuer: Endpoint,
  authorization_endpoint: Endpoint,
  token_endpoint: Endpoint,
  registration_endpoint: Endpoint.exactOptional(),
  revocation_endpoint: Endpoint.exactOptional(),
  scopes_supported: Words.exactOptional(),
  code_challenge_methods_supported: Words.exactOptional(),
  token_endpoint_auth_methods_supported: Words.exactOptional(),
  authorization_response_iss_parameter_supported: z.boolean().exactOptional(),
  client_id_metadata_document_supported: z.boolean().exactOptional(),
})
export type ServerMetadata = z.infer<typeof ServerMetadata>

/** What this gateway needs of the metadata of a protected resource (RFC 9728). */
const ResourceMetadata = z.object({
  resource: z.url().max(2000),
  authorization_servers: z.array(Endpoint).min(1).max(20),
  scopes_supported: Words.exactOptional(),
})
type ResourceMetadata = z.infer<typeof ResourceMetadata>

/** Authorization servers that are tried, of those that a resource names. */
const maxServers = 3

/** Reads a metadata document. Rejects with what is wrong with it. */
async function readDocument(
  fetch: typeof globalThis.fetch,
  url: string,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(url, { headers: { Accept: 'application/json' }, signal })
  if (response.status !== 200) throw new Error(`${url} answers HTTP ${response.status}.`)
  return response
}

/**
 * The metadata of the resource of a URL (RFC 9728, section 3). Rejects if its document names another resource: tokens
 * for that resource would reach this one.
 */
export async function readResource(
  fetch: typeof globalThis.fetch,
  { at, called }: { readonly at: string; readonly called: string },
  signal: AbortSignal,
): Promise<ResourceMetadata> {
  const response = await readDocument(fetch, SecureUrl.parse(at), signal)
  const { resource: stated } = (await response.clone().json()) as { resource?: unknown }
  if (typeof stated !== 'string' || !covers(stated, called)) {
    throw new Error(`${at} is the metadata of another resource.`)
  }
  return ResourceMetadata.parse(await processResourceDiscoveryResponse(new URL(stated), response))
}

/** True if a called URL lies at a resource, or below it. */
function covers(resource: string, called: string): boolean {
  if (!URL.canParse(resource)) return false
  const [stated, url] = [new URL(resource), new URL(called.replace(/^ws/i, 'http'))]
  const base = stated.pathname.replace(/\/+$/, '')
  return stated.origin === url.origin && (url.pathname === base || url.pathname.startsWith(`${base}/`))
}

/** The places of the metadata of the resource of a URL. */
export function resourcePlaces(called: string): string[] {
  const { origin, pathname } = new URL(called.replace(/^ws/i, 'http'))
  const place = `${origin}/.well-known/oauth-protected-resource`
  return pathname === '/' ? [place] : [`${place}${pathname}`, place]
}

/** The metadata of an issuer. Rejects if no document of it names this issuer. */
export async function readServer(
  fetch: typeof globalThis.fetch,
  issuer: string,
  signal: AbortSignal,
): Promise<ServerMetadata> {
  const url = new URL(SecureUrl.parse(issuer))
  const read = async (algorithm: 'oauth2' | 'oidc') => {
    const options = { ...requestOptions(fetch, signal), algorithm }
    return parsed(await processDiscoveryResponse(url, await discoveryRequest(url, options)))
  }
  return await read('oauth2').catch(async (fault) => {
    if (signal.aborted) throw fault
    return await read('oidc').catch((other) => {
      // The first document may be absent, which says less than what is wrong with the other one.
      throw isAbsent(fault) ? other : fault
    })
  })
}

function parsed(stated: StatedServer): ServerMetadata {
  const server = ServerMetadata.safeParse(stated)
  if (server.success) return server.data
  const [issue] = server.error.issues
  throw new Error(`Its metadata has no good ${issue?.path.join('.') || 'form'}.`)
}

function isAbsent(fault: unknown): boolean {
  const cause = fault instanceof Error ? fault.cause : undefined
  return cause instanceof Response && cause.status !== 200
}

/** The metadata of the first of several issuers that has any. */
export async function readFirstServer(
  fetch: typeof globalThis.fetch,
  issuers: readonly string[],
  signal: AbortSignal,
): Promise<ServerMetadata> {
  let first: unknown
  for (const issuer of issuers.slice(0, maxServers)) {
    try {
      return await readServer(fetch, issuer, signal)
    } catch (fault) {
      if (signal.aborted) throw fault
      first ??= fault
    }
  }
  throw first
}

/** What went wrong, for the caller: a text of the other side is not repeated. */
export function reasonOf(fault: unknown): string {
  for (let each = fault; each instanceof Error; each = each.cause) {
    if (each instanceof Failure) return each.message
  }
  return fault instanceof Error ? fault.message.slice(0, 300) : 'an unexpected answer.'
}
