import { LRUCache } from 'lru-cache'
import { linkSignals } from '../../../common/abort.ts'

const maxSessions = 1_000
const maxResources = 100
const maxUriLength = 2_000

const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

type Subscribe = (filter: object, signal: AbortSignal) => Promise<void>

/** Why a subscription at the server is over: the resources have changed, or the server ended it. */
type Outcome = 'renewed' | 'ended'

interface Session {
  /** The resources that the client has subscribed to. */
  readonly resources: Set<string>
  /** Each begins a subscription at the server anew: one for each stream that is open. */
  readonly renewals: Set<() => void>
}

/**
 * The resources that sessions have subscribed to. They matter only to a client that listens, on the node at which it
 * listens.
 */
export class SessionListeners {
  /** No stranger, who may name as many sessions as they like, takes the place of a session that listens. */
  readonly #listening = new Map<string, Session>()
  /** Those that have subscribed to a resource, whether they listen or not. */
  readonly #subscribed = new LRUCache<string, Session>({ max: maxSessions })

  changed(id: string, method: string, uri: unknown): void {
    if (typeof uri !== 'string' || uri.length > maxUriLength) return
    const session = this.#of(id)
    const { resources, renewals } = session
    const before = resources.size
    if (method === 'resources/unsubscribe') resources.delete(uri)
    else if (resources.size < maxResources) resources.add(uri)
    if (resources.size === before) return
    this.#subscribed.set(id, session)
    for (const renew of [...renewals]) renew()
  }

  /** Listens until the signal aborts or the server ends the subscription. */
  async listen(id: string, signal: AbortSignal, subscribe: Subscribe): Promise<void> {
    const session = this.#of(id)
    this.#listening.set(id, session)
    try {
      let outcome: Outcome = 'renewed'
      while (outcome === 'renewed' && !signal.aborted) outcome = await listenOnce(session, signal, subscribe)
    } finally {
      if (session.renewals.size === 0) this.#listening.delete(id)
    }
  }

  #of(id: string): Session {
    const existing = this.#listening.get(id) ?? this.#subscribed.get(id)
    return existing ?? { resources: new Set(), renewals: new Set() }
  }
}

async function listenOnce(
  { resources, renewals }: Session,
  signal: AbortSignal,
  subscribe: Subscribe,
): Promise<Outcome> {
  using linked = linkSignals(signal)
  let isRenewed = false
  const renew = () => {
    isRenewed = true
    linked.abort()
  }
  renewals.add(renew)
  try {
    await subscribe({ ...lists, resourceSubscriptions: [...resources] }, linked.signal)
  } catch (thrown) {
    if (!isRenewed) throw thrown
  } finally {
    renewals.delete(renew)
  }
  return isRenewed ? 'renewed' : 'ended'
}
