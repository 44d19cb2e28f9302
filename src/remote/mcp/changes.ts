import type { Notify } from '../../../schemas/action.ts'
import type { JsonObject } from '../../../schemas/json.ts'

export const lists = ['tools', 'prompts', 'resources'] as const
const updated = 'notifications/resources/updated'
/** What a subscription tells of, and the member of its filter. */
export const changes: ReadonlyMap<string, string> = new Map([
  ...lists.map((list): [string, string] => [`notifications/${list}/list_changed`, `${list}ListChanged`]),
  [updated, 'resourceSubscriptions'],
])

/** The subscriptions of callers to one server. */
export class Audience {
  readonly #members = new Map<string, Set<Notify>>()

  /** `notify` hears what the other sessions of the caller hear, until it is disposed. */
  add(caller: string, notify: Notify): Disposable {
    const members = this.#members.get(caller) ?? new Set()
    this.#members.set(caller, members)
    members.add(notify)
    return {
      [Symbol.dispose]: () => {
        members.delete(notify)
        if (members.size === 0) this.#members.delete(caller)
      },
    }
  }

  has(caller: string): boolean {
    return this.#members.has(caller)
  }

  async tell(caller: string, ...notification: Parameters<Notify>): Promise<void> {
    await Promise.all([...(this.#members.get(caller) ?? [])].map((notify) => notify(...notification)))
  }
}

/** Passes on the changes that a subscription names: a server with sessions tells of all. */
export function ofFilter(filter: JsonObject, notify: Notify): Notify {
  return async (method, params) => {
    const member = changes.get(method)
    if (member === undefined || filter[member]) await notify(method, params)
  }
}

/** Passes on what of another session of the same caller concerns a subscription. */
export function ofOtherSession(filter: JsonObject, isLegacy: boolean, notify: Notify): Notify {
  return async (method, params) => {
    const concerns = method === updated ? covers(filter, params.uri) : changes.has(method) || isLegacy
    if (concerns) await notify(method, params)
  }
}

/** True if a resource, or one that it is a part of, is among those that a subscription names. */
function covers({ resourceSubscriptions: named }: JsonObject, uri: unknown): boolean {
  return Array.isArray(named) && named.some((each) => String(uri).startsWith(String(each)))
}
