import { createHmac, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../../schemas/scope.ts'
import { upTo } from '../common/lru.ts'
import { principalKey } from '../common/principal-key.ts'
import type { SigningKey } from './key.ts'

/** A JWT for one other agent, about a call that the gateway makes on behalf of a caller. */
type Assert = (audience: string, caller: Principal | null) => Promise<string>

interface AssertionOptions {
  readonly signing: () => Promise<SigningKey>
  /** The issuer name of the gateway, which publishes its keys at `/.well-known/jwks.json`. */
  readonly issuer: () => string
  /** The secret of this installation. It keys the pseudonyms, so that nobody can guess subjects. */
  readonly secret: () => Promise<Uint8Array>
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

const lifeSeconds = 120
/** Time for which an assertion is reused. */
const freshMilliseconds = 60_000
const maxCached = 10_000

/**
 * Signs assertions (RFC 7519; `act` as in RFC 8693, 4.1): `aud` is the address of the agent, `act` names the
 * gateway, and `sub` is a pseudonym of the caller, stable for that agent and meaningless to others. The gateway
 * does not accept an assertion as a token, because its `typ` differs.
 */
export function createAssert({ signing, issuer, secret, clock }: AssertionOptions): Assert {
  const cache = new LRUCache<string, { readonly until: number; readonly text: Promise<string> }>(
    upTo(maxCached),
  )

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
    const left = cached ? cached.until - clock() : 0
    // One from before the clock was set back was issued in the future, which agents may refuse.
    if (cached && left > 0 && left <= freshMilliseconds) return await cached.text
    const text = sign(audience, who, key)
    cache.set(name, { until: clock() + freshMilliseconds, text })
    text.catch(() => cache.delete(name))
    return await text
  }
}
