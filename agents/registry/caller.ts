import { Failure } from '../../schemas/failure.ts'
import { holds, type Principal } from '../../schemas/scope.ts'

/** Returns the caller of an action that needs a token. The router has refused callers without one. */
export function requirePrincipal(principal: Principal | null): Principal {
  if (principal) return principal
  throw Failure.needsToken()
}

/**
 * Returns the caller of an action that deletes what belongs to the caller. An application that a person allowed needs
 * the scope for changes. Throws Failure `forbidden`.
 */
export function requireDeleter(principal: Principal | null): Principal {
  const caller = requirePrincipal(principal)
  if (caller.credential?.grant === undefined || holds(caller, 'agents:write')) return caller
  throw new Failure('forbidden', 'The application was not allowed to change or delete what is yours.', {
    scope: 'agents:write',
  })
}
