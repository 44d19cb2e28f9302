import { randomUUID } from 'node:crypto'
import { Failure } from '../../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../../schemas/json.ts'
import { listedActions } from '../../../../schemas/names.ts'
import { linkSignals } from '../../../common/abort.ts'
import type { OnChange } from '../../../common/paced.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { factsOf, requestContent } from '../client-facts.ts'
import type { McpMethod } from '../protocol-2026/protocol.ts'
import { callOf, faultOf, invalidField } from './ask.ts'
import type { ClientExchange } from './forward.ts'

/** The key of `_meta` that names the request of a subscription (2026-07-28, Subscriptions). */
const subscriptionKey = 'io.modelcontextprotocol/subscriptionId'

/** The first notification of a subscription: what of it is honoured. Legacy clients do not know it. */
export const acknowledgement = 'notifications/subscriptions/acknowledged'

/**
 * Tells a client of changes of a server, the acknowledgement first; resolves when the server or the gateway ends the
 * subscription. Throws Fault.
 */
export type Subscribe = (notifications: unknown, exchange: ClientExchange) => Promise<void>

/** `subscriptions/listen` of 2026-07-28: its result comes at the end of the subscription. */
export function listenBy(subscribe: Subscribe, write: (result: object) => string): McpMethod {
  return async ({ notifications }, exchange) => {
    const tag = { [subscriptionKey]: exchange.id }
    await subscribe(notifications, {
      ...exchange,
      facts: factsOf(exchange.meta),
      notify: (method, params) => exchange.notify(method, { ...params, _meta: tag }),
    })
    return write({ _meta: tag })
  }
}

/** What a subscription may ask for (SubscriptionFilter), and the notification of its changes. */
const changes = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
} as const

/** Subscriptions to the lists of this gateway. */
export function subscribeToLists(
  sources: Readonly<Partial<Record<keyof typeof changes, OnChange>>>,
  ending?: AbortSignal,
): Subscribe {
  return async (notifications, { signal, notify }) => {
    if (!isRecord(notifications)) throw invalidField('/notifications', 'This must be an object.')
    const honoured = Object.entries(sources).filter(([kind]) => notifications[kind] === true)
    const acknowledged = Object.fromEntries(honoured.map(([kind]) => [kind, true]))
    await notify(acknowledgement, { notifications: acknowledged })
    const stops = honoured.map(([kind, onListed]) =>
      onListed(() => void notify(changes[kind as keyof typeof changes], {}).catch(() => {})),
    )
    using over = linkSignals(signal, ...(ending ? [ending] : []))
    await new Promise((resolve) => {
      over.signal.addEventListener('abort', resolve)
      if (over.signal.aborted) resolve(undefined)
    })
    for (const stop of stops) stop()
  }
}

/** Subscriptions to the lists of a listed MCP server. */
export function createSubscribe(
  context: TransportContext,
  to: string,
  ending: AbortSignal | undefined,
): Subscribe {
  return async (notifications, exchange) => {
    if (!isRecord(notifications)) throw invalidField('/notifications', 'This must be an object.')
    const id = randomUUID()
    try {
      const call = {
        ...(await callOf(exchange, id)),
        content: requestContent(exchange.facts, undefined),
        notifyClient: exchange.notify,
        emit: async () => {},
        ...(ending && { ending }),
      }
      const params = { notifications: notifications as JsonObject }
      await context.dispatch({ to, action: listedActions.subscription, params }, call)
    } catch (thrown) {
      const failure = thrown instanceof Failure ? thrown : undefined
      if (failure?.code === 'cancelled' && !exchange.signal.aborted) return
      throw faultOf(failureOf(context, thrown), id)
    }
  }
}
