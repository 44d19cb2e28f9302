import { OperationProcessingError, ResponseBodyError } from 'oauth4webapi'
import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { httpUrl } from '../../common/http-url.ts'
import { parseJson } from '../../common/json.ts'
import { SecureUrl } from '../issuers.ts'

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

/** Nothing is at the place of a document. */
class AbsentError extends Error {}

/** The JSON of a metadata document. Rejects with what is wrong with it. */
async function readDocument(
  fetch: typeof globalThis.fetch,
  url: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const response = await fetch(url, { headers: { Accept: 'application/json' }, signal })
  if (response.status !== 200) throw new AbsentError(`${url} answers HTTP ${response.status}.`)
  const document = parseJson(await response.text())
  if (!isRecord(document)) throw new Error(`${url} is no JSON object.`)
  return document
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
  const document = await readDocument(fetch, SecureUrl.parse(at), signal)
  const { resource } = document
  if (typeof resource !== 'string' || !covers(resource, called)) {
    throw new Error(`${at} is the metadata of another resource.`)
  }
  return parsed(ResourceMetadata, document)
}

/** True if a called URL lies at a resource, or below it. */
function covers(resource: string, called: string): boolean {
  if (!URL.canParse(resource)) return false
  const [stated, url] = [new URL(resource), httpUrl(called)]
  const base = stated.pathname.replace(/\/+$/, '')
  return stated.origin === url.origin && (url.pathname === base || url.pathname.startsWith(`${base}/`))
}

/** The places of the metadata of the resource of a URL. */
export function resourcePlaces(called: string): string[] {
  const { origin, pathname } = httpUrl(called)
  const place = `${origin}/.well-known/oauth-protected-resource`
  return pathname === '/' ? [place] : [`${place}${pathname}`, place]
}

/** The places of the metadata of an issuer (MCP 2025-11-25, Authorization Server Metadata Discovery). */
function serverPlaces({ origin, pathname }: URL): string[] {
  const [oauth, openId] = ['oauth-authorization-server', 'openid-configuration']
  const path = pathname.replace(/\/$/, '')
  const places = [`${origin}/.well-known/${oauth}${path}`, `${origin}/.well-known/${openId}${path}`]
  return path === '' ? places : [...places, `${origin}${path}/.well-known/${openId}`]
}

/** The metadata of an issuer. Rejects if no document of it names this issuer. */
export async function readServer(
  fetch: typeof globalThis.fetch,
  issuer: string,
  signal: AbortSignal,
): Promise<ServerMetadata> {
  const url = new URL(SecureUrl.parse(issuer))
  let reason: unknown
  for (const at of serverPlaces(url)) {
    try {
      const document = await readDocument(fetch, at, signal)
      if (URL.parse(String(document.issuer))?.href === url.href) return parsed(ServerMetadata, document)
      throw new Error(`${at} is the metadata of another issuer than ${issuer}.`)
    } catch (fault) {
      if (signal.aborted) throw fault
      // A document that is absent says less than what is wrong with another one.
      if (reason === undefined || reason instanceof AbsentError) reason = fault
    }
  }
  throw reason
}

function parsed<Metadata>(schema: z.ZodType<Metadata>, document: object): Metadata {
  const metadata = schema.safeParse(document)
  if (metadata.success) return metadata.data
  const [issue] = metadata.error.issues
  throw new Error(`Its metadata has no good ${issue?.path.join('.') || 'form'}.`)
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

/** What went wrong, for the caller: of the texts of the other side, only a code of an error is repeated. */
export function reasonOf(fault: unknown): string {
  if (fault instanceof ResponseBodyError) {
    const code = /^[a-z_]{1,60}$/.test(fault.error) ? ` with the error ${fault.error}` : ''
    return `it answers HTTP ${fault.status}${code}.`
  }
  const { cause } = fault instanceof Error ? fault : {}
  if (fault instanceof OperationProcessingError && cause instanceof Response && !cause.ok) {
    return `it answers HTTP ${cause.status}.`
  }
  for (let each = fault; each instanceof Error; each = each.cause) {
    if (each instanceof Failure) return each.message
  }
  return fault instanceof Error ? fault.message.slice(0, 300) : 'an unexpected answer.'
}
