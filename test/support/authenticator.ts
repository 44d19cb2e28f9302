import { type Authenticate, createAuthenticator } from '../../src/auth/authenticator.ts'
import type { SigningKey } from '../../src/auth/key.ts'
import { openKeyRing } from '../../src/auth/key-ring.ts'
import { createLocalVerifier } from '../../src/auth/local.ts'
import type { Revocations } from '../../src/auth/revocations.ts'

/** The current signing key of the ring at a path. */
export async function loadSigningKey(path: string): Promise<SigningKey> {
  return await (await openKeyRing(path, Date.now)).signing()
}

/** Accepts only the tokens of one local key; no token is revoked unless `revoked` says so. */
export function authenticatorOf(
  key: SigningKey,
  issuer: string,
  clock: () => number,
  revoked: Revocations['revoked'] = () => false,
): Authenticate {
  const ring = { name: issuer, verifying: (kid: string) => (kid === key.kid ? key : undefined) }
  const verify = createLocalVerifier(ring, () => issuer, clock)
  return createAuthenticator({
    verifierOf: (requested) => (requested === issuer ? verify : undefined),
    verifyKey: () => Promise.reject(new Error('There are no API keys here.')),
    isTrusted: () => true,
    revocations: { revoked },
    clock,
  })
}
