import { Failure } from '../../schemas/failure.ts'
import type { Principal, ResourcePath } from '../../schemas/scope.ts'
import type { Authenticate } from './authenticator.ts'

/**
 * The caller in an Authorization header (RFC 6750 section 2.1) of a request to a protected resource; null without one.
 * An invalid token, or one for other resources, is a Failure `unauthenticated`, never an anonymous caller.
 */
export function principalOf(
  header: string | undefined,
  authenticate: Authenticate,
  resource: ResourcePath,
): Principal | null | Promise<Principal> {
  if (header === undefined) return null
  const scheme = /^bearer +/i.exec(header)?.[0]
  if (scheme === undefined) {
    throw new Failure('unauthenticated', 'The Authorization header must be Bearer followed by a token.')
  }
  const principal = authenticate(header.slice(scheme.length))
  if (principal instanceof Promise) return principal.then((verified) => assertNamed(verified, resource))
  return assertNamed(principal, resource)
}

/** RFC 9068 section 4. */
function assertNamed(principal: Principal, resource: ResourcePath): Principal {
  if (principal.resources === undefined || principal.resources.includes(resource)) return principal
  throw new Failure('unauthenticated', 'The token was issued for another resource.', {
    hint: 'Request a token with the `resource` that the metadata of this one names.',
  })
}
