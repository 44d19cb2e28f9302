import type { AccessReport } from '../../../schemas/callable.ts'
import type { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { parseJson } from '../../common/json.ts'
import type { Fetch } from '../../net/fetch/fetch.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'

type Kind = AccessReport['kind']

/** Errors about a request, by which an agent shows that it read the request of a caller without a credential. */
const aboutRequest = new Set(['invalid_request', 'not_found', 'unknown_action', 'wrong_state', 'conflict'])

/**
 * What the outcome of a request without a credential says about access; undefined if it says nothing. A challenge that
 * names the metadata of its resource (RFC 9728, 5.1), or a card with such a scheme, means a sign-in.
 */
export function kindOf(outcome: Failure | undefined, { card }: Pick<StoredEntry, 'card'>): Kind | undefined {
  const schemes = schemesOf(card)
  const declared = schemes.length === 0 ? 'open' : schemes.some(isSignIn) ? 'needs_sign_in' : 'needs_key'
  if (outcome === undefined) return declared
  const { status, code, challenge = '' } = outcome.details.upstream ?? {}
  const isRefused = status === 401 || status === 403 || code === 'unauthenticated' || code === 'forbidden'
  if (!isRefused) return aboutRequest.has(outcome.code) ? declared : undefined
  return declared === 'needs_sign_in' || namesMetadata(challenge) ? 'needs_sign_in' : 'needs_key'
}

export function namesMetadata(challenge: string): boolean {
  return /\b(?:resource_metadata|authorization_uri)\s*=/i.test(challenge)
}

/** The security schemes that a card requires, of either version of A2A. */
function schemesOf(card: StoredEntry['card']): Record<string, unknown>[] {
  const { securitySchemes, security, securityRequirements } = card ?? {}
  const required = [security, securityRequirements].find((list) => Array.isArray(list) && list.length > 0)
  if (required === undefined || !isRecord(securitySchemes)) return []
  return Object.values(securitySchemes).filter(isRecord)
}

function isSignIn(scheme: Record<string, unknown>): boolean {
  const isOldForm = scheme.type === 'oauth2' || scheme.type === 'openIdConnect'
  return isOldForm || 'oauth2SecurityScheme' in scheme || 'openIdConnectSecurityScheme' in scheme
}

const maxBytes = 64 * 1024
const timeout_ms = 5_000

/**
 * True if the server of a URL publishes the metadata of a sign-in: of the resource (RFC 9728, 3.1), or of an
 * authorization server (RFC 8414), as servers of older revisions of MCP do.
 */
export async function hasSignIn(url: string, fetch: Fetch, signal: AbortSignal): Promise<boolean> {
  if (!/^https?:/i.test(url)) return false
  const { origin, pathname } = new URL(url)
  const path = pathname === '/' ? '' : pathname
  const places = [
    `${origin}/.well-known/oauth-protected-resource${path}`,
    `${origin}/.well-known/oauth-protected-resource`,
    `${origin}/.well-known/oauth-authorization-server`,
  ]
  for (const place of new Set(places)) {
    const answer = await fetch({ url: place, signal, max_bytes: maxBytes, timeout_ms }).catch(() => undefined)
    signal.throwIfAborted()
    if (answer?.status === 200 && isMetadata(answer.body)) return true
  }
  return false
}

function isMetadata(body: Uint8Array): boolean {
  const document = parseJson(new TextDecoder().decode(body))
  return isRecord(document) && ('authorization_servers' in document || 'authorization_endpoint' in document)
}
