import { packageNameOf } from '../../schemas/names.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { Router } from './router.ts'

/** An anonymous call that names a session is made as that session, through whichever door it came. */
export function withSessions(
  router: Router,
  packageName: string,
  principalOf: (id: string) => Principal,
): Router {
  return {
    async dispatch(envelope, call) {
      const session = envelope.params?.session
      const anonymous = call.principal === null && typeof session === 'string'
      if (!anonymous || packageNameOf(String(envelope.to)) !== packageName)
        return router.dispatch(envelope, call)
      return router.dispatch(envelope, { ...call, principal: principalOf(session) })
    },
  }
}
