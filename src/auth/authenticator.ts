import { hash } from 'node:crypto'
import { type CryptoKey, errors, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { localIssuer, type Principal, Scope } from '../../schemas/scope.ts'
import type { SigningKey } from './key.ts'

/**
 * Tells who calls from a bearer token. Cheap when asked again, so that a door asks anew for each call and
 * expiry bites on open sockets. Throws Failure `unauthenticated`.
 */
export type Authenticate = (token: string) => Principal | Promise<Principal>

const longestToken = 8192
const cacheMilliseconds = 60_000

const Claims = z.object({
  sub: z.string().min(1).max(200),
  exp: z.number(),
  jti: z.string(),
  scope: z.string().default(''),
  ns: z.array(z.string()).max(100).default([]),
})

/** Verifies local tokens: EdDSA, `at+jwt`, our `kid`, issuer and audience, five seconds of skew. */
export function createAuthenticator(key: SigningKey, issuer: string, clock: () => number): Authenticate {
  const verified = new LRUCache<string, { principal: Principal; until: number }>({ max: 10_000 })

  async function verify(token: string, digest: string): Promise<Principal> {
    const { payload } = await jwtVerify(token, keyNamed(key), {
      algorithms: ['EdDSA'],
      issuer,
      audience: issuer,
      typ: 'at+jwt',
      requiredClaims: ['exp', 'sub', 'jti'],
      clockTolerance: 5,
      currentDate: new Date(clock()),
    }).catch((fault) => {
      throw refused(fault)
    })
    const principal = toPrincipal(payload)
    const expires = (principal.expires_at ?? 0) * 1000
    verified.set(digest, { principal, until: Math.min(expires, clock() + cacheMilliseconds) })
    return principal
  }

  return (token) => {
    if (token.length > longestToken) throw refused(new Error('The token is too long.'))
    const digest = hash('sha256', token, 'base64')
    const known = verified.get(digest)
    if (known && known.until > clock()) return known.principal
    return verify(token, digest)
  }
}

function keyNamed(key: SigningKey): (header: { kid?: string }) => CryptoKey {
  return ({ kid }) => {
    if (kid !== key.kid) throw new errors.JWKSNoMatchingKey()
    return key.public_key
  }
}

function toPrincipal(payload: unknown): Principal {
  const claims = Claims.safeParse(payload)
  if (!claims.success) throw refused(claims.error)
  const { sub, exp, scope, ns } = claims.data
  const scopes = scope.split(' ').flatMap((word) => Scope.safeParse(word).data ?? [])
  return { issuer: localIssuer, subject: sub, scopes: new Set(scopes), namespaces: ns, expires_at: exp }
}

function refused(fault: unknown): Failure {
  const expired = fault instanceof errors.JWTExpired
  const message = expired ? 'The token has expired.' : 'The token is not valid here.'
  return new Failure('unauthenticated', message, { hint: '`dragoman token create` makes a new one.' }, fault)
}

/** The principal of a command run beside the data: the operator. */
export const localPrincipal: Principal = {
  issuer: 'local',
  subject: 'local',
  scopes: new Set<Scope>(['admin']),
  namespaces: [],
}
