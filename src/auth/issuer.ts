import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { localIssuer } from '../../schemas/identity.ts'
import type { Scope } from '../../schemas/scope.ts'
import type { SigningKey } from './key.ts'

/** What a token is to say. `ttl_s` in seconds. */
export interface Grant {
  readonly subject: string
  readonly scopes: readonly Scope[]
  readonly namespaces: readonly string[]
  readonly ttl_s: number
  /** Whose subject it is, where that is another issuer. */
  readonly owner_issuer?: string
  /** Id of the API key that it is obtained with; the subject when absent. */
  readonly client_id?: string
  /** Whom it is for; the issuer when absent. */
  readonly audience?: readonly string[]
}

/** The issuer and audience of our tokens: the base URL where set, else a name of the keys, good on any port. */
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
  const { subject, owner_issuer = localIssuer, client_id = subject, audience = [issuer] } = grant
  const now = Math.floor(clock() / 1000)
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
    .setExpirationTime(now + grant.ttl_s)
    .sign(key.private_key)
}
