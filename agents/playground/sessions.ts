import { LRUCache } from 'lru-cache'
import { Failure } from '../../schemas/failure.ts'
import { testTag } from '../../schemas/names.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { Sessions } from './index.ts'

const lifetime = 3_600_000
const mostSessions = 100_000

/** Sessions in memory, for an hour each. */
export interface SessionBook extends Sessions {
  /** Whom calls in the session are made as. Throws Failure `not_found`. */
  principalOf(id: string): Principal
}

/** `createId` gives 128 random bits as text; `clock` is in milliseconds since the epoch. */
export function createSessionBook(clock: () => number, createId: () => string): SessionBook {
  const sessions = new LRUCache<string, { expires: number; steps: number }>({ max: mostSessions })

  function find(id: string): { expires: number; steps: number } {
    const session = sessions.get(id)
    if (session && session.expires > clock()) return session
    throw new Failure('not_found', 'There is no such playground session, or its hour is over.', {
      hint: 'POST /api/playground/session makes a new one.',
    })
  }

  return {
    create() {
      const id = createId()
      const expires = clock() + lifetime
      sessions.set(id, { expires, steps: 0 })
      return { id, expires_at: new Date(expires).toISOString() }
    },
    find: (id) => void find(id),
    step(id) {
      const session = find(id)
      session.steps += 1
      return session.steps
    },
    principalOf(id) {
      find(id)
      return {
        issuer: 'playground',
        subject: `playground:${id}`,
        scopes: new Set(['agents:read', 'a2a:call'] as const),
        namespaces: [],
        confined_to: testTag,
      }
    },
  }
}
