import { Failure } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'

/** Returns the caller of an action that needs a token. The router has refused callers without one. */
export function requirePrincipal(principal: Principal | null): Principal {
  if (principal) return principal
  throw new Failure('unauthenticated', 'This needs a bearer token.')
}
