import type { Envelope } from '../../schemas/envelope.ts'
import { packageNameOf, testTag } from '../../schemas/names.ts'
import { holds, type Principal } from '../../schemas/scope.ts'
import type { Call, Router } from './call.ts'

const maxIdLength = 100

/**
 * An anonymous call that names a session runs as that session, at every transport. The session's agent checks that
 * it exists before anything else.
 */
export function withSessions(router: Router, packageName: string): Router {
  return {
    ...router,
    dispatch(envelope, call) {
      const { to, params }: Partial<Envelope> = envelope ?? {}
      const session = params?.session
      const named = typeof session === 'string' && session.length <= maxIdLength
      if (hasOwnRights(call) || !named || typeof to !== 'string') return router.dispatch(envelope, call)
      if (packageNameOf(to) !== packageName) return router.dispatch(envelope, call)
      return router.dispatch(envelope, { ...call, principal: principalOf(session) })
    },
  }
}

/** The person at this machine uses a session as anybody may, unless they have the scope of the playground. */
function hasOwnRights({ principal, model }: Call): boolean {
  if (principal === null) return false
  return model === undefined || principal.credential !== undefined || holds(principal, 'playground')
}

function principalOf(session: string): Principal {
  return {
    issuer: 'playground',
    subject: `playground:${session}`,
    scopes: new Set(['agents:read', 'a2a:call'] as const),
    namespaces: [],
    confined_to: testTag,
  }
}
