import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { Failure } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'

/**
 * The caller behind a token of one kind. Throws Failure `unauthenticated`, or `unavailable` if it cannot be
 * checked now.
 */
export type Verify = (token: string) => Promise<Principal>

/** By how much the clocks of an issuer and of this gateway may differ. */
export const clockTolerance_s = 5

interface Expectation {
  readonly algorithms: readonly string[]
  readonly issuer: readonly string[]
  readonly audience: readonly string[]
  /** Accepted `typ` headers, in lower case, without `application/`. */
  readonly types: readonly string[]
  readonly key: JWTVerifyGetKey
  readonly clock: () => number
}

/** Checks a JWT against the expectations for its issuer: `kid` and `exp` are required, with five seconds of skew. */
export async function verifyJwt(
  token: string,
  { algorithms, issuer, audience, types, key, clock }: Expectation,
): Promise<{ payload: JWTPayload; kid: string; typ: string }> {
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      (header, jws) => {
        if (typeof header.kid !== 'string' || header.kid === '') throw new errors.JWKSNoMatchingKey()
        return key(header, jws)
      },
      {
        algorithms: [...algorithms],
        issuer: [...issuer],
        audience: [...audience],
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockTolerance_s,
        currentDate: new Date(clock()),
      },
    )
    // JSON allows numbers that parse to Infinity, such as 1e999.
    if (![payload.exp, payload.iat ?? 0].every(Number.isFinite))
      throw new errors.JWTInvalid('A time claim is not a finite number.')
    const typ = String(protectedHeader.typ ?? '')
      .toLowerCase()
      .replace(/^application\//, '')
    if (!types.includes(typ)) throw new errors.JWTInvalid('The typ header is of another kind of token.')
    return { payload, kid: String(protectedHeader.kid), typ }
  } catch (fault) {
    throw refused(fault)
  }
}

/** The failure of an invalid token; the reason is its cause, which callers do not see. */
export function refused(fault: unknown, expired = fault instanceof errors.JWTExpired): Failure {
  if (fault instanceof Failure) return fault
  const message = expired ? 'The token has expired.' : 'The token is not valid here.'
  return new Failure('unauthenticated', message, { hint: newTokenHint }, fault)
}

export const newTokenHint =
  'Get another where this one is from: from your identity provider, by `dragoman login URL`, or on the machine of the gateway by `dragoman token create`.'
