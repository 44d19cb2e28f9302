import type { SubscriptionFilter } from '@modelcontextprotocol/client'
import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import { abortable } from '../../common/abort.ts'
import { lists } from './changes.ts'
import type { McpConnection } from './connector.ts'
import type { McpExchange } from './exchange.ts'

const acknowledgement_ms = 60_000
/** The subscriptions to the servers, of all callers. */
export class Listeners {
  readonly #counts = new Map<string, number>()
  #total = 0
  readonly #max: number
  readonly #maxPerCaller: number

  constructor(max: number, maxPerCaller: number) {
    this.#max = max
    this.#maxPerCaller = maxPerCaller
  }

  /** Throws Failure `rate_limited` if too many are open. */
  add(caller: string): Disposable {
    const own = this.#counts.get(caller) ?? 0
    if (this.#total >= this.#max || own >= this.#maxPerCaller) {
      throw new Failure('rate_limited', 'Too many subscriptions are open.', {
        hint: 'Close one of them first.',
      })
    }
    this.#counts.set(caller, own + 1)
    this.#total++
    return {
      [Symbol.dispose]: () => {
        const left = (this.#counts.get(caller) ?? 1) - 1
        if (left > 0) this.#counts.set(caller, left)
        else this.#counts.delete(caller)
        this.#total--
      },
    }
  }
}

/**
 * Subscribes, acknowledges the part of the filter that the server honours, and resolves when the server ends the
 * subscription or closes the connection. `join` is called after the acknowledgement, and what it returns is disposed at
 * the end. Throws Failure `not_callable` if the server has nothing of it.
 */
export async function listenTo(
  { client, spoken }: McpConnection,
  filter: JsonObject,
  { signal, notifyClient }: McpExchange,
  join: () => Disposable,
): Promise<void> {
  const acknowledge = async (notifications: object) => {
    if (Object.keys(notifications).length === 0) {
      throw new Failure('not_callable', 'The agent does not announce such changes.')
    }
    await notifyClient?.('notifications/subscriptions/acknowledged', {
      notifications: notifications as JsonObject,
    })
  }
  if (spoken.kind === 'modern') {
    const options = { signal, timeout: acknowledgement_ms }
    const subscription = await client.listen(filter as SubscriptionFilter, options)
    await acknowledge(withoutEmpty(subscription.honoredFilter))
    using _ = join()
    await abortable(subscription.closed, signal)
    return
  }
  const closed = new Promise<void>((resolve) => {
    const { onclose } = client
    client.onclose = () => {
      onclose?.()
      resolve()
    }
  })
  const capabilities = client.getServerCapabilities() ?? {}
  const honoured = lists
    .map((list) => [`${list}ListChanged`, list] as const)
    .filter(([key, list]) => filter[key] === true && capabilities[list]?.listChanged === true)
    .map(([key]) => [key, true] as const)
  const { resourceSubscriptions } = filter
  const uris =
    capabilities.resources?.subscribe && Array.isArray(resourceSubscriptions) ? resourceSubscriptions : []
  for (const uri of uris) {
    await client.request({ method: 'resources/subscribe', params: { uri: String(uri) } }, { signal })
  }
  await acknowledge({
    ...Object.fromEntries(honoured),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  })
  using _ = join()
  await abortable(closed, signal)
}

function withoutEmpty(filter: object): object {
  const entries = Object.entries(filter)
  return Object.fromEntries(
    entries.filter(([, value]) => value === true || (Array.isArray(value) && value.length > 0)),
  )
}
