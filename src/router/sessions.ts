import type { Envelope } from '../../schemas/envelope.ts'
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
      const { to, params }: Partial<Envelope> = envelope ?? {}
      const session = params?.session
      if (call.principal !== null || typeof session !== 'string' || typeof to !== 'string')
        return router.dispatch(envelope, call)
      if (packageNameOf(to) !== packageName) return router.dispatch(envelope, call)
      return router.dispatch(envelope, { ...call, principal: principalOf(session) })
    },
  }
}
