import type { Envelope } from '../../schemas/envelope.ts'
import { Failure } from '../../schemas/failure.ts'
import { packageNameOf } from '../../schemas/names.ts'
import { principalKey } from '../common/principal-key.ts'
import { createBuckets } from './buckets.ts'
import type { Allowance, Call, RouterOptions } from './call.ts'

/** Calls a minute for an anonymous caller; ten times as many with a token. */
const perMinute = { read: 600, search: 120, execute: 20, session: 20, probe: 6 }
type Class = keyof typeof perMinute

const withToken = 10

/**
 * Counts like `Take`, for several gateways together; errors other than `rate_limited` fall back to the local
 * limiter.
 */
type TakeShared = (
  policy: string,
  caller: string,
  limit: number,
) => Promise<Omit<Allowance, 'policy' | 'limit'>>

interface Sharing {
  readonly take: TakeShared
  readonly onError: (fault: unknown) => void
}

/**
 * Counts a call against its caller and its class. With shared counts all classes but plain reads are shared. A
 * caller is its token's subject, else its network address; calls of a local process and of agents are not counted.
 */
export function createLimiter(clock: () => number, shared?: Sharing): RouterOptions['admit'] {
  const take = createBuckets(clock)

  return (envelope, call) => {
    const caller = callerOf(call)
    if (caller === undefined) return undefined
    const policy = classOf(envelope)
    const limit = perMinute[policy] * (call.principal && !call.principal.confined_to ? withToken : 1)
    return shared && policy !== 'read'
      ? takeFromShared(shared, policy, caller, limit)
      : take(policy, caller, limit)
  }

  /** If the shared counts fail, each gateway counts for itself. */
  async function takeFromShared(
    { take: takeShared, onError }: Sharing,
    policy: string,
    caller: string,
    limit: number,
  ): Promise<Allowance> {
    try {
      return { policy, limit, ...(await takeShared(policy, caller, limit)) }
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.code === 'rate_limited') throw thrown
      onError(thrown)
      return take(policy, caller, limit)
    }
  }
}

/** The caller's token subject, else its network address; undefined for a local process. */
export function callerOf({ principal, client }: Pick<Call, 'principal' | 'client'>): string | undefined {
  if (client === 'local') return undefined
  return principal && !principal.confined_to ? principalKey(principal) : client.address
}

/** By the names in the envelope, before they are resolved: guessing names counts too. */
function classOf({ to, action, params }: Envelope): Class {
  const agent = packageNameOf(to)
  if (agent === 'svc.playground') return inPlayground.get(action) ?? 'read'
  if (agent !== 'svc.registry') return 'read'
  // Each call leaves a row that outlives deletion.
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

/** A webhook is called at once, from the first revision if requested, and its owner reads the result. */
const probing = new Set(['verify', 'claim', 'check', 'create_webhook', 'update_webhook'])
const heavy = new Set(['search', 'discover', 'validate'])

/** True if the action contacts name servers or sites of the caller's choice. */
function asksOutside(action: Envelope['action'], params: Envelope['params']): boolean {
  if (probing.has(action)) return true
  if (params?.manifest_url === undefined) return false
  const isTold = params.name !== undefined && params.description !== undefined
  return action === 'validate' || (action === 'publish' && !isTold)
}
