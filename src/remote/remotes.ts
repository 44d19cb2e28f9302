import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { endpointsOf, reachableEndpoints } from '../../schemas/callable.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import { addressOf } from '../../schemas/names.ts'
import { isPackageUrl, packageUrl, runnablePackage } from '../../schemas/package.ts'
import type { Clock, Wait } from '../common/clock.ts'
import { createAgentPolicy } from '../net/upstream/fair-policy.ts'
import type { UpstreamPolicy } from '../net/upstream/upstream-policy.ts'
import { type CallTimes, createGuarded } from './guarded.ts'
import type { Connect, RemoteAgent, RemoteFacts } from './remote-agent.ts'

/** A listed agent with the endpoint at which it is called. */
export interface ConnectedAgent {
  readonly agent: RemoteAgent
  readonly endpoint: Endpoint
  /** True if its package is started to call it. */
  readonly is_package: boolean
}

interface CachedAgent extends ConnectedAgent {
  readonly policy: UpstreamPolicy
  /** The card that the adapter was created with. */
  card: EntryDetail['card']
}

/** The remote agents in use, each with its own upstream policy. */
export interface Remotes extends AsyncDisposable {
  /** Undefined if the entry has neither an endpoint of a supported protocol nor a package that can be run. */
  of(entry: EntryDetail): ConnectedAgent | undefined
  /**
   * A new agent at an endpoint, without the circuit and sessions of earlier calls; never a package. The caller disposes
   * of the agent.
   */
  fresh(entry: EntryDetail): ConnectedAgent | undefined
  /**
   * A new agent at an endpoint that no entry states, without limits: the caller ends each request and disposes of the
   * agent.
   */
  at(endpoint: Endpoint): RemoteAgent | undefined
}

interface RemotesOptions {
  /** Of these adapters, the first that supports the protocol of an endpoint is used. */
  readonly connects: readonly Connect[]
  readonly clock: Clock
  readonly wait: Wait
  /** Maximum silence of an agent; an endpoint may state less. */
  readonly times: CallTimes
}

const maxAgents = 1_000
/**
 * Maximum concurrent calls to one agent, and of one caller; a hundred more wait, further ones are refused. A task that
 * an agent of A2A has begun counts apart: A2A limits those of a caller, and they may take an hour. The agent's
 * own Retry-After is capped at five minutes, since it applies to all callers.
 */
const limits = {
  max_in_flight: 64,
  max_in_flight_per_caller: 12,
  max_tasks: 500,
  gap_ms: 0,
  burst: 1,
  max_rest_ms: 300_000,
}

export function createRemotes({ connects, clock, wait, times }: RemotesOptions): Remotes {
  const closing = new Set<Promise<void>>()
  const keys = new WeakMap<EntryDetail, string>()
  const cache = new LRUCache<string, CachedAgent>({ max: maxAgents, dispose: ({ agent }) => close(agent) })

  function close(agent: RemoteAgent): void {
    const closed = Promise.resolve(agent[Symbol.asyncDispose]()).catch(() => {})
    closing.add(closed)
    void closed.then(() => closing.delete(closed))
  }

  const policyOf = ({ package_name }: EntryDetail) => createAgentPolicy(package_name, limits, clock, wait)

  function connect(
    entry: EntryDetail,
    policy: UpstreamPolicy,
    endpoints: readonly Endpoint[],
  ): CachedAgent | undefined {
    const facts = factsOf(entry)
    const { card, package_name: who } = entry
    for (const endpoint of endpoints) {
      for (const connectTo of connects) {
        const agent = connectTo(endpoint, facts)
        if (!agent) continue
        return {
          endpoint,
          policy,
          card,
          is_package: isPackageUrl(endpoint.url),
          agent: createGuarded(agent, { policy, who, times: timesOf(endpoint, times) }),
        }
      }
    }
    return undefined
  }

  return {
    fresh: (entry) => connect(entry, policyOf(entry), statedEndpoints(entry)),
    at(endpoint) {
      const who = new URL(endpoint.url).host
      const facts = { package_name: who, address: who, card: {} }
      return connects.map((connectTo) => connectTo(endpoint, facts)).find((found) => found !== undefined)
    },
    of(entry) {
      // A new version at the same endpoints is the same agent: publishing it does not reset the circuit.
      const key =
        keys.get(entry) ??
        JSON.stringify([entry.id, endpointsOf(entry), urlOfPackage(entry), factsOf(entry).address])
      keys.set(entry, key)
      const cached = cache.get(key)
      if (cached && (cached.card === entry.card || isDeepStrictEqual(cached.card, entry.card))) {
        // Lets the next comparison be by identity.
        cached.card = entry.card
        return cached
      }
      const policy = cached?.policy ?? policyOf(entry)
      const created = connect(entry, policy, [...statedEndpoints(entry), ...packageEndpoint(entry)])
      if (created) cache.set(key, created)
      return created
    },
    async [Symbol.asyncDispose]() {
      cache.clear()
      await Promise.all(closing)
    },
  }
}

function factsOf({ package_name, card }: EntryDetail): RemoteFacts {
  const { agent_id } = card
  const address = typeof agent_id === 'string' && agent_id !== '' ? agent_id : addressOf(package_name)
  return { package_name, address: address.slice(0, 220), card }
}

/** An entry cannot state the address of a package as an endpoint. */
function statedEndpoints(entry: EntryDetail): Endpoint[] {
  return reachableEndpoints(entry).filter(({ url }) => !isPackageUrl(url))
}

function urlOfPackage(entry: EntryDetail): string | undefined {
  const found = runnablePackage(entry)
  return found && packageUrl(found)
}

/** The package of an entry as an MCP server without an address. */
function packageEndpoint(entry: EntryDetail): Endpoint[] {
  const url = urlOfPackage(entry)
  return url === undefined ? [] : [{ protocol: 'mcp', url, binding: 'stdio' }]
}

/** An endpoint may state a shorter silence than the operator's, never a longer one. */
function timesOf({ idle_timeout_s }: Endpoint, { first_ms, idle_ms }: CallTimes): CallTimes {
  const stated_ms = idle_timeout_s === undefined ? Number.POSITIVE_INFINITY : idle_timeout_s * 1000
  return { first_ms: Math.min(first_ms, stated_ms), idle_ms: Math.min(idle_ms, stated_ms) }
}
