import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { Failure } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'

/** Who stands behind a token of one kind. Throws Failure `unauthenticated`, or `unavailable` where that is not known now. */
export type Verify = (token: string) => Promise<Principal>

export interface Expectation {
  readonly algorithms: readonly string[]
  readonly issuer: readonly string[]
  readonly audience: readonly string[]
  /** Accepted `typ` headers, in lower case, without `application/`. */
  readonly types: readonly string[]
  readonly key: JWTVerifyGetKey
  readonly clock: () => number
}

/** Checks a JWT against what its issuer's tokens are like: `kid` and `exp` required, five seconds of skew. */
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
        clockTolerance: 5,
        currentDate: new Date(clock()),
      },
    )
    // JSON has numbers without end, such as 1e999.
    if (![payload.exp, payload.iat ?? 0].every(Number.isFinite)) throw new errors.JWTInvalid('No sound time.')
    const typ = String(protectedHeader.typ ?? '')
      .toLowerCase()
      .replace(/^application\//, '')
    if (!types.includes(typ)) throw new errors.JWTInvalid('The typ header is of another kind of token.')
    return { payload, kid: String(protectedHeader.kid), typ }
  } catch (fault) {
    throw refused(fault)
  }
}

/** A token that is taken nowhere; what is wrong with it is its cause, and not told. */
export function refused(fault: unknown, expired = fault instanceof errors.JWTExpired): Failure {
  if (fault instanceof Failure) return fault
  const message = expired ? 'The token has expired.' : 'The token is not valid here.'
  return new Failure('unauthenticated', message, { hint: '`dragoman token create` makes a new one.' }, fault)
}
