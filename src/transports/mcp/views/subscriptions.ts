import { randomUUID } from 'node:crypto'
import { Failure } from '../../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../../schemas/json.ts'
import { listedActions } from '../../../../schemas/names.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { requestContent } from '../client-facts.ts'
import { callOf, faultOf, invalidField } from './ask.ts'
import type { ClientExchange } from './forward.ts'

/** The key of `_meta` that names the request of a subscription (2026-07-28, Subscriptions). */
export const subscriptionKey = 'io.modelcontextprotocol/subscriptionId'

/**
 * Tells a client of changes of a listed MCP server, the acknowledgement first; resolves when the server or the gateway
 * ends the subscription. Throws Fault.
 */
export type Subscribe = (notifications: unknown, exchange: ClientExchange) => Promise<void>

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
