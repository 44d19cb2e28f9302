import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { EntryDetail } from '../../schemas/card.ts'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import type { Clock, Wait } from '../common/clock.ts'
import { createUpstreamPolicy, type UpstreamPolicy } from '../net/upstream/upstream-policy.ts'
import { endpointsOf, factsOf } from './endpoints.ts'
import { createGuarded } from './guarded.ts'
import type { Connect, RemoteAgent } from './remote-agent.ts'

/** A listed agent with the endpoint that it is called at. */
export interface Connected {
  readonly agent: RemoteAgent
  readonly endpoint: Endpoint
}

interface Known extends Connected {
  readonly policy: UpstreamPolicy
  /** By which it is spoken to. */
  card: EntryDetail['card']
}

/** The agents that are called, each with a circuit and places of its own, for as long as they are called. */
export interface Remotes extends AsyncDisposable {
  /** Undefined where the entry has no endpoint that is spoken here. */
  of(entry: EntryDetail): Connected | undefined
  /** The same with nothing that was learnt from calls, for whoever disposes of it. */
  fresh(entry: EntryDetail): Connected | undefined
}

export interface RemotesOptions {
  /** The first one that speaks an endpoint's protocol is taken. */
  readonly connects: readonly Connect[]
  readonly clock: Clock
  readonly wait: Wait
  /** Milliseconds that an agent may take for one call; 25,000 when absent. */
  readonly patience_ms?: number
}

const mostAgents = 1_000
/**
 * Calls that one agent has under way together, and how many of those one caller; a hundred more wait, and what comes
 * then is refused. Whoever publishes an agent does not say for how long nobody else may call it.
 */
const limits = { max_in_flight: 16, max_in_flight_per_caller: 12, gap_ms: 0, burst: 1, max_rest_ms: 300_000 }
const defaultPatience = 25_000

export function createRemotes({
  connects,
  clock,
  wait,
  patience_ms = defaultPatience,
}: RemotesOptions): Remotes {
  const closing = new Set<Promise<void>>()
  const keys = new WeakMap<EntryDetail, string>()
  const known = new LRUCache<string, Known>({ max: mostAgents, dispose: ({ agent }) => close(agent) })

  function close(agent: RemoteAgent): void {
    const closed = Promise.resolve(agent[Symbol.asyncDispose]()).catch(() => {})
    closing.add(closed)
    void closed.then(() => closing.delete(closed))
  }

  const policyOf = ({ package_name }: EntryDetail) => createUpstreamPolicy(package_name, limits, clock, wait)

  function connect(entry: EntryDetail, policy: UpstreamPolicy): Known | undefined {
    const facts = factsOf(entry)
    const { card, package_name: who } = entry
    for (const endpoint of endpointsOf(entry)) {
      for (const speak of connects) {
        const agent = speak(endpoint, facts)
        if (!agent) continue
        return { endpoint, policy, card, agent: createGuarded(agent, { policy, who, patience_ms }) }
      }
    }
    return undefined
  }

  return {
    fresh: (entry) => connect(entry, policyOf(entry)),
    of(entry) {
      // What is published anew at the same place is the same agent: its circuit does not close by that.
      const key = keys.get(entry) ?? JSON.stringify([entry.id, endpointsOf(entry), factsOf(entry).address])
      keys.set(entry, key)
      const found = known.get(key)
      if (found && (found.card === entry.card || isDeepStrictEqual(found.card, entry.card))) {
        // The next comparison is one of identity.
        found.card = entry.card
        return found
      }
      const made = connect(entry, found?.policy ?? policyOf(entry))
      if (made) known.set(key, made)
      return made
    },
    async [Symbol.asyncDispose]() {
      known.clear()
      await Promise.all(closing)
    },
  }
}
