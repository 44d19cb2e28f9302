import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes } from '../../../../schemas/failure.ts'
import type { McpRequest } from '../../../common/mcp/message.ts'
import { isChallenge } from '../../http/challenge.ts'
import { type EventStream, openEvents } from '../../http/events.ts'
import { requestId } from '../../http/request-id.ts'
import { failureHeaders, send } from '../../http/respond.ts'
import { signalOf } from '../../http/rest.ts'
import type { TransportContext } from '../../shared/transport-context.ts'
import type { McpCaller, Modern } from './protocol.ts'

/**
 * Answers one POST (Streamable HTTP): as JSON or, from the first notification on, as server-sent events; as 401 or
 * 403 if another token is needed. A caller who closes the connection cancels the request.
 */
export async function serveExchange(
  context: Pick<TransportContext, 'site'>,
  modern: Modern,
  caller: McpCaller,
  message: McpRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const signal = signalOf(response)
  let stream: EventStream | undefined
  const exchange = {
    caller,
    signal,
    challenges: true,
    async notify(method: string, params: object) {
      if (signal.aborted) return
      stream ??= openEvents(response)
      await stream.write({ event: 'message', data: JSON.stringify({ jsonrpc: '2.0', method, params }) })
    },
  }
  const { status, text, failure } = await modern.answer(message, exchange, request.headers)
  if (signal.aborted) return
  if (stream) stream.end({ event: 'message', data: text })
  else if (failure && isChallenge(failure)) {
    const headers = failureHeaders(context, request, failure, requestId(request))
    send(request, response, codes[failure.code].http, text, { ...headers, ...json })
  } else send(request, response, status, text, json)
}

const json = { 'Content-Type': 'application/json' }
