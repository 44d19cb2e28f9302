import { randomUUID } from 'node:crypto'
import { contentMark } from '../../../../schemas/content-mark.ts'
import { isRecord, type JsonObject } from '../../../../schemas/json.ts'
import { listedActions } from '../../../../schemas/names.ts'
import type { RpcError } from '../../../common/mcp/message.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { type ClientFacts, requestContent } from '../client-facts.ts'
import { Fault, faults } from '../protocol-2026/fault.ts'
import type { Exchange } from '../protocol-2026/protocol.ts'
import { callOf, faultOf, updates } from './ask.ts'
import { markMeta } from './results.ts'

/** A request in progress, with the client that sent it. */
export type ClientExchange = Exchange & { readonly facts: ClientFacts }

/** Passes a request on to a listed MCP server, and its result back as it is. Throws Fault. */
export type Forward = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  exchange: ClientExchange,
) => Promise<JsonObject>

type Reply = { readonly result: JsonObject } | { readonly error: RpcError }

export function createForward(context: TransportContext, to: string): Forward {
  return async (method, params, exchange) => {
    const id = randomUUID()
    try {
      const { _meta, ...rest } = params
      const content = requestContent(exchange.facts, _meta)
      const meta = 'meta' in content && Object.keys(content.meta).length > 0 ? { _meta: content.meta } : {}
      const action = listedActions.request
      const call = { ...(await callOf(exchange, id)), content, ...updates(_meta, exchange) }
      const { output, mark = contentMark(null) } = await context.dispatch(
        { to, action, params: { method, params: { ...rest, ...meta } } },
        call,
      )
      const reply = output as unknown as Reply
      if ('error' in reply) throw upstreamFault(reply.error)
      const { result } = reply
      if (Object.keys(result).length === 0) return result
      const marked = { ...(isRecord(result._meta) && result._meta), ...markMeta(mark) }
      return { ...result, _meta: marked as JsonObject }
    } catch (thrown) {
      if (thrown instanceof Fault) throw thrown
      throw faultOf(failureOf(context, thrown), id)
    }
  }
}

/** Errors whose HTTP status is 400 (2026-07-28, Streamable HTTP). */
const badRequests: ReadonlySet<number> = new Set([
  faults.headerMismatch,
  faults.missingCapability,
  faults.unsupportedVersion,
])

function upstreamFault({ code, message, data }: RpcError): Fault {
  const status = code === faults.unknownMethod ? 404 : badRequests.has(code) ? 400 : 200
  return new Fault(code, message, { status, ...(data !== undefined && { data }) })
}
