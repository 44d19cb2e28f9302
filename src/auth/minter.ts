import type { Principal, Scope } from '../../schemas/scope.ts'
import { mintToken } from './issuer.ts'
import type { KeyRing } from './key-ring.ts'

/**
 * An access token for the holder of an API key, and its lifetime in seconds. An empty audience stands for every resource.
 */
export type Mint = (
  holder: Principal,
  scopes: readonly Scope[],
  audience: readonly string[],
) => Promise<{ readonly access_token: string; readonly expires_in: number }>

const lifeSeconds = 3600

/** Tokens for an hour, or for the key's remaining lifetime. `issuer` is the issuer in the metadata. */
export function createMinter(
  ring: Pick<KeyRing, 'name' | 'signing'>,
  issuer: () => string,
  clock: () => number,
): Mint {
  return async ({ issuer: owner_issuer, subject, namespaces, expires_at, credential }, scopes, audience) => {
    const left = Math.ceil((expires_at ?? Number.POSITIVE_INFINITY) - clock() / 1000)
    const expires_in = Math.min(lifeSeconds, left)
    const grant = {
      subject,
      owner_issuer,
      scopes,
      namespaces,
      ttl_s: expires_in,
      ...(credential?.key !== undefined && { client_id: credential.key }),
      audience: audience.length > 0 ? audience : [ring.name],
    }
    return { access_token: await mintToken(await ring.signing(), issuer(), grant, clock), expires_in }
  }
}
