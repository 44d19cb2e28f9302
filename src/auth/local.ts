import { errors } from 'jose'
import { z } from 'zod'
import { keyId, localIssuer } from '../../schemas/identity.ts'
import { Scope } from '../../schemas/scope.ts'
import type { KeyRing } from './key-ring.ts'
import { resourceNames, resourcesIn } from './resources.ts'
import { refused, type Verify, verifyJwt } from './verify.ts'

const Claims = z.object({
  sub: z.string().min(1).max(200),
  exp: z.number(),
  iat: z.number().default(0),
  jti: z.string(),
  client_id: z.string().optional(),
  scope: z.string().default(''),
  ns: z.array(z.string()).max(100).default([]),
  sub_iss: z.string().default(localIssuer),
  grant: z.string().optional(),
})

/**
 * Verifies tokens that a key of the ring signed: EdDSA, `at+jwt`, and the claims of RFC 9068. The audience is the name of
 * the ring, which no address changes and which stands for every resource, or it names resources below the base URL.
 */
export function createLocalVerifier(
  ring: Pick<KeyRing, 'name' | 'verifying'>,
  baseUrl: () => string,
  clock: () => number,
): Verify {
  return async (token) => {
    const base = baseUrl()
    const { payload, kid } = await verifyJwt(token, {
      algorithms: ['EdDSA'],
      issuer: [ring.name, base],
      audience: [ring.name, ...resourceNames(base)],
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
    const { sub, exp, iat, jti, client_id, scope, ns, sub_iss, grant } = claims.data
    const scopes = scope.split(' ').flatMap((word) => Scope.safeParse(word).data ?? [])
    const audience = [payload.aud ?? []].flat()
    // The command line once made tokens for the base URL as a whole; it is their own client.
    const namesAll = audience.includes(ring.name) || client_id === sub
    const resources = namesAll ? undefined : resourcesIn(audience, base)
    const key = client_id !== undefined && keyId.test(client_id) ? client_id : undefined
    return {
      issuer: sub_iss,
      subject: sub,
      scopes: new Set(scopes),
      namespaces: ns,
      expires_at: exp,
      ...(resources && { resources }),
      credential: {
        issued_at: iat * 1000,
        jti,
        kid,
        ...(key !== undefined && { key }),
        ...(grant !== undefined && { grant }),
      },
    }
  }
}
