import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Scope } from '../../schemas/scope.ts'
import type { SigningKey } from './key.ts'

/** What a token is to say. `ttl_s` in seconds. */
export interface Grant {
  readonly subject: string
  readonly scopes: readonly Scope[]
  readonly namespaces: readonly string[]
  readonly ttl_s: number
}

/** The issuer and audience of local tokens: the base URL where set, else a name of the key, good on any port. */
export function issuerName(key: SigningKey, baseUrl: string | undefined): string {
  return baseUrl ?? `urn:dragoman:${key.kid}`
}

/** Signs an access token (RFC 9068). `clock` in milliseconds since the epoch. */
export async function mintToken(
  key: SigningKey,
  issuer: string,
  grant: Grant,
  clock: () => number,
): Promise<string> {
  const now = Math.floor(clock() / 1000)
  return await new SignJWT({
    client_id: grant.subject,
    scope: grant.scopes.join(' '),
    ns: [...grant.namespaces],
  })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: key.kid })
    .setIssuer(issuer)
    .setAudience(issuer)
    .setSubject(grant.subject)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(now + grant.ttl_s)
    .sign(key.private_key)
}
