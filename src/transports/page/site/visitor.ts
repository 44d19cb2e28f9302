import type { IncomingMessage } from 'node:http'
import { localPersonId } from '../../../../schemas/identity.ts'
import { type Principal, type Scope, scopes } from '../../../../schemas/scope.ts'
import type { AuthorizationServer } from '../../../auth/authorization-server/authorization-server.ts'
import { offeredScopes } from '../../../auth/authorization-server/offered-scopes.ts'
import type { Person } from '../../../auth/logins/login.ts'
import { isSamePrincipal } from '../../../common/principal-key.ts'

/** Who visits a page. */
export interface Visitor {
  /** Who signed in with this browser; null if nobody did. */
  readonly person: Person | null
  /** The browser's session is over. */
  readonly expired: boolean
  /** As whom the page acts. */
  readonly principal: Principal | null
  /** The secret of the session, for its forms; empty without one. */
  readonly session: string
  /** With the rights of the operator: for who signed in within the hour with an address that this machine printed. */
  readonly operator: Principal | null
}

export type VisitorPort = Pick<AuthorizationServer, 'browsers' | 'isSecure' | 'clock'>

/** Cookies of loopback reach servers at all its ports, so the rights of the operator end long before the session. */
const operatorSeconds = 3600

/** Reads the session of the browser. */
export async function visitorOf(port: VisitorPort, request: IncomingMessage): Promise<Visitor> {
  const { person, session, expired, signedInAt } = await port.browsers.of(request)
  if (!person) return { person: null, expired, principal: null, session: '', operator: null }
  const isLocal = isSamePrincipal(person, localPersonId)
  const isOperator = isLocal && port.clock() / 1000 - signedInAt < operatorSeconds
  const principal: Principal = {
    issuer: person.issuer,
    subject: person.subject,
    scopes: new Set<Scope>(offeredScopes),
    namespaces: person.namespaces,
    credential: { issued_at: signedInAt * 1000 },
  }
  const operator = isOperator ? { ...principal, scopes: new Set<Scope>(scopes) } : null
  return { person, expired, principal, session, operator }
}
