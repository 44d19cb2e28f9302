import { errors } from 'jose'
import { z } from 'zod'
import { keyId, localIssuer } from '../../schemas/identity.ts'
import { Scope } from '../../schemas/scope.ts'
import type { KeyRing } from './key-ring.ts'
import { refused, type Verify, verifyJwt } from './verify.ts'

/** The allowed issuers and audiences of the gateway's own tokens. */
interface Names {
  readonly issuers: readonly string[]
  readonly audiences: readonly string[]
}

const Claims = z.object({
  sub: z.string().min(1).max(200),
  exp: z.number(),
  iat: z.number().default(0),
  jti: z.string(),
  client_id: z.string().optional(),
  scope: z.string().default(''),
  ns: z.array(z.string()).max(100).default([]),
  sub_iss: z.string().default(localIssuer),
})

/** Verifies tokens that a key of the ring signed: EdDSA, `at+jwt`, and the claims of RFC 9068. */
export function createLocalVerifier(
  ring: Pick<KeyRing, 'verifying'>,
  names: () => Names,
  clock: () => number,
): Verify {
  return async (token) => {
    const { issuers, audiences } = names()
    const { payload, kid } = await verifyJwt(token, {
      algorithms: ['EdDSA'],
      issuer: issuers,
      audience: audiences,
      types: ['at+jwt'],
      clock,
      async key({ kid }) {
        const key = await ring.verifying(String(kid))
        if (!key) throw new errors.JWKSNoMatchingKey()
        return key.public_key
      },
    })
    const claims = Claims.safeParse(payload)
    if (!claims.success) throw refused(claims.error)
    const { sub, exp, iat, jti, client_id, scope, ns, sub_iss } = claims.data
    const scopes = scope.split(' ').flatMap((word) => Scope.safeParse(word).data ?? [])
    const key = client_id !== undefined && keyId.test(client_id) ? client_id : undefined
    return {
      issuer: sub_iss,
      subject: sub,
      scopes: new Set(scopes),
      namespaces: ns,
      expires_at: exp,
      credential: { issued_at: iat * 1000, jti, kid, ...(key !== undefined && { key }) },
    }
  }
}
