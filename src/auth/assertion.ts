import { createHmac, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../../schemas/scope.ts'
import { principalKey } from '../common/principal-key.ts'
import type { SigningKey } from './key.ts'

/** What the gateway says to another agent of a call that it makes on somebody's behalf: a JWT for that agent alone. */
export type Assert = (audience: string, caller: Principal | null) => Promise<string>

export interface AssertionOptions {
  readonly signing: () => Promise<SigningKey>
  /** The name of the gateway, whose keys stand at `/.well-known/jwks.json`. */
  readonly issuer: () => string
  /** Of this installation: keeps subjects from being guessed. */
  readonly secret: () => Promise<Uint8Array>
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

const lifeSeconds = 120
/** One is given out again for so long. */
const freshMilliseconds = 60_000
const maxCached = 10_000

/**
 * Signs assertions (RFC 7519; `act` as in RFC 8693, 4.1): `aud` is the address that is called, `act` says that the gateway
 * acts, and `sub` is a name of the caller that is the same at each call to that agent and tells nobody else anything.
 * No door of ours takes one for a token: its type is another.
 */
export function createAssert({ signing, issuer, secret, clock }: AssertionOptions): Assert {
  const cache = new LRUCache<string, { readonly until: number; readonly text: Promise<string> }>({
    max: maxCached,
  })

  async function sign(audience: string, caller: string | null, kid: SigningKey): Promise<string> {
    const now = Math.floor(clock() / 1000)
    const iss = issuer()
    const subject =
      caller === null
        ? 'anonymous'
        : createHmac('sha256', await secret())
            .update(JSON.stringify(['subject', audience, caller]))
            .digest('base64url')
    return await new SignJWT({ act: { sub: iss } })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'dragoman-assertion+jwt', kid: kid.kid })
      .setIssuer(iss)
      .setSubject(subject)
      .setAudience(audience)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + lifeSeconds)
      .sign(kid.private_key)
  }

  return async (audience, caller) => {
    const key = await signing()
    const who = caller && principalKey(caller)
    const name = `${key.kid} ${issuer()} ${audience} ${who}`
    const cached = cache.get(name)
    if (cached && cached.until > clock()) return await cached.text
    const text = sign(audience, who, key)
    cache.set(name, { until: clock() + freshMilliseconds, text })
    text.catch(() => cache.delete(name))
    return await text
  }
}
