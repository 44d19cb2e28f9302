import type { Envelope } from '../../schemas/envelope.ts'
import { packageNameOf } from '../../schemas/names.ts'
import { createBuckets } from './buckets.ts'
import type { Call, RouterOptions } from './router.ts'

/** Calls a minute for an anonymous caller; a caller with a token has ten times as many. */
const perMinute = { read: 600, search: 120, execute: 20, session: 20, probe: 6 }
type Class = keyof typeof perMinute

const withToken = 10

/**
 * Counts a call against its caller and its class. A caller is its token's subject, else its network address; calls
 * of a local process and calls made by agents are not counted.
 */
export function createLimiter(clock: () => number): RouterOptions['admit'] {
  const take = createBuckets(clock)

  return (envelope, call) => {
    const caller = callerOf(call)
    if (caller === undefined) return undefined
    const policy = classOf(envelope)
    const limit = perMinute[policy] * (call.principal && !call.principal.confined_to ? withToken : 1)
    return take(policy, caller, limit)
  }
}

/** Its token's subject, else its network address; undefined for a local process. */
export function callerOf({ principal, client }: Pick<Call, 'principal' | 'client'>): string | undefined {
  if (client === undefined) return undefined
  return principal && !principal.confined_to
    ? JSON.stringify([principal.issuer, principal.subject])
    : client.address
}

/** By what is asked, before anybody looks whether it exists: guessing names counts too. */
function classOf({ to, action, params }: Envelope): Class {
  const agent = packageNameOf(to)
  if (agent === 'svc.playground') return inPlayground.get(action) ?? 'read'
  if (agent !== 'svc.registry') return 'read'
  // Each leaves something behind for hours, deleted or not.
  if (action === 'create_key') return 'execute'
  if (asksOutside(action, params)) return 'probe'
  const searches = heavy.has(action) || params?.query !== undefined
  return searches ? 'search' : 'read'
}

const inPlayground: ReadonlyMap<string, Class> = new Map([
  ['create_session', 'session'],
  ['execute', 'execute'],
  ['discover', 'search'],
  ['get_session', 'search'],
  ['watch_session', 'search'],
  ['export_session', 'search'],
])

const heavy = new Set(['search', 'discover', 'validate'])

/** Asks name servers and sites of the caller's choice before it answers. */
function asksOutside(action: Envelope['action'], params: Envelope['params']): boolean {
  if (action === 'verify' || action === 'claim' || action === 'check') return true
  if (params?.manifest_url === undefined) return false
  const isTold = params.name !== undefined && params.description !== undefined
  return action === 'validate' || (action === 'publish' && !isTold)
}
