import { LRUCache } from 'lru-cache'
import { Failure } from '../../schemas/failure.ts'
import { localPersonId, wholeKey } from '../../schemas/identity.ts'
import { isRecord } from '../../schemas/json.ts'
import { type Principal, type Scope, scopes } from '../../schemas/scope.ts'
import { upTo } from '../common/lru.ts'
import type { Revocations } from './revocations.ts'
import { refused, type Verify } from './verify.ts'

/**
 * The caller behind a bearer token. The result is cached, so a transport can check each call, and expiry and
 * revocation take effect on open sockets. Throws Failure `unauthenticated`, or `unavailable` if the keys of the
 * token's issuer cannot be fetched. `begin` is called before a token that is not cached is verified, and may throw; the
 * function that it returns is called if the token is valid.
 */
export type Authenticate = (
  token: string,
  begin?: () => () => void,
  requestId?: string,
) => Principal | Promise<Principal>

interface AuthenticatorOptions {
  /** The verifier for an issuer's tokens; undefined for an untrusted issuer. */
  readonly verifierOf: (issuer: string) => Verify | undefined
  readonly verifyKey: Verify
  /** True if the issuer is still trusted; API keys, and tokens obtained with one, name it too. */
  readonly isTrusted: (issuer: string) => boolean
  readonly revocations: Pick<Revocations, 'revoked'>
  readonly clock: () => number
  /** Receives why a credential is refused, and what it states of itself; callers are told neither. */
  readonly onRefused?: (refusal: Refusal) => void
}

/** Why a credential is refused, and whose it says that it is, unverified. */
interface Refusal {
  readonly reason: string
  /** Id of the request, as its caller reads it. */
  readonly id?: string
  readonly issuer?: string
  readonly sub?: string
  /** Id of an API key, which is no secret. */
  readonly key?: string
}

/** In characters; a longer token is refused unread. */
export const maxTokenLength = 8192
/** RFC 6750 section 2.1. */
const tokenCharacters = /^[A-Za-z0-9._~+/-]+=*$/
const cacheMilliseconds = 60_000
/** Characters; a claim of an unverified token may have any length. */
const maxClaimShown = 200

interface VerifiedToken {
  readonly principal: Principal
  readonly from: number
  readonly until: number
}

/**
 * Verifies API keys and JWTs of trusted issuers; a verified token is cached for a minute, and checked for
 * revocation each time.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { revocations, clock, onRefused } = options
  // Keyed by the token itself: hashing it would cost more than the rest of a cached check.
  const verified = new LRUCache<string, VerifiedToken>(upTo(10_000))

  async function verify(token: string, begin?: () => () => void, id?: string): Promise<Principal> {
    const succeeded = begin?.()
    try {
      const principal = await verifyAnew(token)
      succeeded?.()
      return principal
    } catch (fault) {
      if (fault instanceof Failure && fault.code === 'unauthenticated') {
        onRefused?.({ ...(id !== undefined && { id }), ...refusalOf(fault, token) })
      }
      throw fault
    }
  }

  async function verifyAnew(token: string): Promise<Principal> {
    if (!tokenCharacters.test(token)) throw refused(new Error('The text is not a token.'))
    const principal = await verifierOf(token)(token)
    if (!options.isTrusted(principal.issuer))
      throw refused(new Error('The issuer of its owner is not trusted.'))
    assertStands(principal)
    const now = clock()
    const expires = (principal.expires_at ?? 0) * 1000
    verified.set(token, { principal, from: now, until: Math.min(expires, now + cacheMilliseconds) })
    return principal
  }

  function verifierOf(token: string): Verify {
    if (token.startsWith('drg_')) return options.verifyKey
    const verifier = options.verifierOf(issuerOf(token))
    if (!verifier) throw refused(new Error('The issuer is not trusted.'))
    return verifier
  }

  function assertStands(principal: Principal): void {
    if (revocations.revoked(principal)) throw refused(new Error('The token has been revoked.'))
  }

  return (token, begin, id) => {
    if (token.length > maxTokenLength) throw refused(new Error('The token is too long.'))
    const cached = verified.get(token)
    const now = clock()
    if (!cached || now >= cached.until || now < cached.from) return verify(token, begin, id)
    assertStands(cached.principal)
    return cached.principal
  }
}

function refusalOf({ cause, message }: Failure, token: string): Refusal {
  const reason = cause instanceof Error ? cause.message : message
  const [, key] = wholeKey.exec(token) ?? []
  if (key !== undefined) return { reason, key }
  try {
    const { iss, sub } = payloadOf(token)
    return { reason, ...shown('issuer', iss), ...shown('sub', sub) }
  } catch {
    return { reason }
  }
}

function shown(name: 'issuer' | 'sub', claim: unknown): { issuer?: string; sub?: string } {
  return typeof claim === 'string' ? { [name]: claim.slice(0, maxClaimShown) } : {}
}

/** The unverified `iss` of a JWT: it only selects the verifier. */
function issuerOf(token: string): string {
  const { iss } = payloadOf(token)
  if (typeof iss === 'string') return iss
  throw refused(new Error('The token has no issuer.'))
}

/** The unverified claims of a JWT. Refuses non-canonical encodings. */
function payloadOf(token: string): Readonly<Record<string, unknown>> {
  const parts = token.split('.')
  if (parts.length !== 3 || !parts.every(isCanonical)) throw refused(new Error('The token is not a JWT.'))
  try {
    const payload: unknown = JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString())
    return isRecord(payload) ? payload : {}
  } catch (fault) {
    throw refused(fault)
  }
}

/** Unused bits in the last base64url character must be zero, so that a token has one encoding. */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part
}

/** The person at this machine, with the rights of its operator: the command line on the local data. */
export const localPrincipal: Principal = {
  ...localPersonId,
  own_host: true,
  scopes: new Set<Scope>(['admin']),
  namespaces: [],
}

/**
 * The person at this machine who uses the local data through a program of theirs, such as an MCP host: an owner like
 * any other. `manages`: the program may change what is stored.
 */
export function localPerson(manages: boolean): Principal {
  const reads = ['agents:read', 'a2a:call'] as const
  return {
    ...localPersonId,
    own_host: true,
    scopes: new Set<Scope>(manages ? scopes.filter((scope) => scope !== 'admin') : reads),
    namespaces: [],
  }
}
