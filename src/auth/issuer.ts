import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { localIssuer } from '../../schemas/identity.ts'
import type { Scope } from '../../schemas/scope.ts'
import type { SigningKey } from './key.ts'

/** The contents of a token. `ttl_s` in seconds. */
interface Grant {
  readonly subject: string
  readonly scopes: readonly Scope[]
  readonly namespaces: readonly string[]
  readonly ttl_s: number
  /** The issuer of the subject, if that is another one. */
  readonly owner_issuer?: string
  /** Id of the API key that the token is obtained with; the subject when absent. */
  readonly client_id?: string
  /** The addresses of protected resources, or the name of the key ring, which stands for all. */
  readonly audience: readonly string[]
}

/**
 * The issuer of the gateway's tokens: the base URL if set, else the name of the key ring, valid on any port.
 */
export function issuerName(ring: { readonly name: string }, baseUrl: string | undefined): string {
  return baseUrl ?? ring.name
}

/** Signs an access token (RFC 9068). `clock` in milliseconds since the epoch. */
export async function mintToken(
  key: SigningKey,
  issuer: string,
  grant: Grant,
  clock: () => number,
): Promise<string> {
  const { subject, owner_issuer = localIssuer, client_id = subject, audience } = grant
  // In milliseconds, as revocations are: a token of the second of a revocation is not revoked by it.
  const now = clock() / 1000
  const [only] = audience
  return await new SignJWT({
    client_id,
    scope: grant.scopes.join(' '),
    ns: [...grant.namespaces],
    ...(owner_issuer !== localIssuer && { sub_iss: owner_issuer }),
  })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: key.kid })
    .setIssuer(issuer)
    .setAudience(audience.length === 1 && only !== undefined ? only : [...audience])
    .setSubject(subject)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(Math.floor(now) + grant.ttl_s)
    .sign(key.private_key)
}
