import { Failure } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { Authenticate } from './authenticator.ts'

export type { Authenticate } from './authenticator.ts'

/**
 * The caller in an Authorization header (RFC 6750 section 2.1); null without one. An invalid token is a Failure
 * `unauthenticated`, never an anonymous caller.
 */
export function principalOf(
  header: string | undefined,
  authenticate: Authenticate,
): Principal | null | Promise<Principal> {
  if (header === undefined) return null
  const scheme = /^bearer +/i.exec(header)?.[0]
  if (scheme === undefined) {
    throw new Failure('unauthenticated', 'The Authorization header must be Bearer followed by a token.')
  }
  return authenticate(header.slice(scheme.length))
}
