import { LRUCache } from 'lru-cache'
import { linkSignals } from '../../../common/abort.ts'

const maxSessions = 1_000
const maxResources = 100
const maxUriLength = 2_000

interface Session {
  /** The resources that the client has subscribed to. */
  readonly resources: Set<string>
  /** Begins the subscription at the server anew. */
  renew?: () => void
}

/**
 * The resources that sessions have subscribed to. They matter only to a client that listens, on the node at which it
 * listens.
 */
export class SessionListeners {
  readonly #sessions = new LRUCache<string, Session>({ max: maxSessions })

  changed(session: string, method: string, uri: unknown): void {
    if (typeof uri !== 'string' || uri.length > maxUriLength) return
    const { resources, renew } = this.#of(session)
    const before = resources.size
    if (method === 'resources/unsubscribe') resources.delete(uri)
    else if (resources.size < maxResources) resources.add(uri)
    if (resources.size !== before) renew?.()
  }

  /** Listens until the signal aborts or the server ends the subscription. */
  async listen(
    id: string,
    signal: AbortSignal,
    subscribe: (filter: object, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const session = this.#of(id)
    while (!signal.aborted) {
      const linked = linkSignals(signal)
      let isRenewed = false
      session.renew = () => {
        isRenewed = true
        linked.abort()
      }
      try {
        const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
        await subscribe({ ...lists, resourceSubscriptions: [...session.resources] }, linked.signal)
      } catch (thrown) {
        if (!isRenewed) throw thrown
      } finally {
        delete session.renew
        linked[Symbol.dispose]()
      }
      if (!isRenewed) return
    }
  }

  #of(id: string): Session {
    const session = this.#sessions.get(id) ?? { resources: new Set<string>() }
    this.#sessions.set(id, session)
    return session
  }
}
