import { LRUCache } from 'lru-cache'
import { isRecord } from '../../schemas/json.ts'
import type { Principal, Scope } from '../../schemas/scope.ts'
import type { Revocations } from './revocations.ts'
import { refused, type Verify } from './verify.ts'

/**
 * Tells who calls from a bearer token. Cheap when asked again, so that a door asks anew for each call and
 * expiry and revocation bite on open sockets. Throws Failure `unauthenticated`, or `unavailable` where the issuer
 * of the token cannot be asked for its keys.
 */
export type Authenticate = (token: string) => Principal | Promise<Principal>

export interface AuthenticatorOptions {
  /** Who verifies the tokens of this issuer; undefined for one that is not trusted. */
  readonly verifierOf: (issuer: string) => Verify | undefined
  readonly verifyKey: Verify
  /** Whether this issuer's subjects are still taken; their API keys, and tokens obtained with one, name it too. */
  readonly isTrusted: (issuer: string) => boolean
  readonly revocations: Pick<Revocations, 'revoked'>
  readonly clock: () => number
}

/** In characters; a longer one is not looked at. */
export const maxTokenLength = 8192
/** RFC 6750 section 2.1. */
const tokenCharacters = /^[A-Za-z0-9._~+/-]+=*$/
const cacheMilliseconds = 60_000

interface VerifiedToken {
  readonly principal: Principal
  readonly from: number
  readonly until: number
}

/** API keys and JWTs of trusted issuers; what was verified is kept for a minute, and checked for revocation each time. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { revocations, clock } = options
  // By the token itself: a hash of it would cost more than all else that a known token does.
  const verified = new LRUCache<string, VerifiedToken>({ max: 10_000 })

  async function verify(token: string): Promise<Principal> {
    if (!tokenCharacters.test(token)) throw refused(new Error('It is not a token.'))
    const principal = await verifierOf(token)(token)
    if (!options.isTrusted(principal.issuer)) throw refused(new Error('Its owner’s issuer is not trusted.'))
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
    if (revocations.revoked(principal)) throw refused(new Error('It has been revoked.'))
  }

  return (token) => {
    if (token.length > maxTokenLength) throw refused(new Error('The token is too long.'))
    const cached = verified.get(token)
    const now = clock()
    if (!cached || now >= cached.until || now < cached.from) return verify(token)
    assertStands(cached.principal)
    return cached.principal
  }
}

/** The `iss` that a JWT states, unverified: it only picks who verifies it. Refuses all but one spelling of a token. */
function issuerOf(token: string): string {
  const parts = token.split('.')
  if (parts.length !== 3 || !parts.every(isCanonical)) throw refused(new Error('It is not a JWT.'))
  try {
    const payload: unknown = JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString())
    if (isRecord(payload) && typeof payload.iss === 'string') return payload.iss
  } catch (fault) {
    throw refused(fault)
  }
  throw refused(new Error('It names no issuer.'))
}

/** Bits that base64url leaves unused in its last character must be zero: one token, one spelling. */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part
}

/** The principal of a command run beside the data: the operator. */
export const localPrincipal: Principal = {
  issuer: 'local',
  subject: 'local',
  scopes: new Set<Scope>(['admin']),
  namespaces: [],
}
