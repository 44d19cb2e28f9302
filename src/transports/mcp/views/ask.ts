import { randomUUID } from 'node:crypto'
import { codes, Failure, problem } from '../../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../../schemas/json.ts'
import { registryName } from '../../../../schemas/names.ts'
import type { Call } from '../../../router/call.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { Fault } from '../protocol-2026/fault.ts'
import type { Exchange } from '../protocol-2026/protocol.ts'

/**
 * Calls an action of the registry agent on behalf of the caller. Throws Fault with the failure's own code and
 * problem.
 */
export type Ask = (action: string, params: Record<string, unknown>, exchange: Exchange) => Promise<Json>

export function createAsk(context: TransportContext): Ask {
  return async (action, params, exchange) => {
    const id = randomUUID()
    try {
      const call = await callOf(exchange, id)
      return (await context.dispatch({ to: registryName, action, params }, call)).output
    } catch (thrown) {
      throw faultOf(failureOf(context, thrown), id)
    }
  }
}

/** The call of the router for an exchange: behind every MCP client is a language model. */
export async function callOf(
  { caller, signal }: Pick<Exchange, 'caller' | 'signal'>,
  id: string,
): Promise<Call> {
  const model = caller.manages ? 'manages' : 'reads'
  return { principal: await caller.identify(), client: caller.client, signal, id, model }
}

/** Progress goes to clients that want it; log messages go as they come. */
export function updates(meta: unknown, { notify }: Exchange) {
  const progressToken = isRecord(meta) ? meta.progressToken : undefined
  return {
    notifyClient: notify,
    ...(progressToken !== undefined && {
      receives: 'progress' as const,
      async emit(update: object) {
        if ('progress' in update) await notify('notifications/progress', { progressToken, ...update })
      },
    }),
  }
}

/** A failure as a JSON-RPC error. */
export function faultOf(failure: Failure, id: string = randomUUID()): Fault {
  return new Fault(codes[failure.code].rpc, failure.message, { data: problem(failure, id), failure })
}

/** The error for invalid params. */
export function invalidField(pointer: string, detail: string, nearest: readonly string[] = []): Fault {
  const more = nearest.length > 0 ? { nearest } : {}
  return faultOf(
    new Failure('invalid_request', `${pointer}: ${detail}`, { errors: [{ pointer, detail }], ...more }),
  )
}
