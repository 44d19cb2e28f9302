import type { IncomingMessage, ServerResponse } from 'node:http'
import type { McpRequest } from '../../../common/mcp/message.ts'
import type { TransportContext } from '../../shared/transport-context.ts'
import { openAnswer } from '../http-answer.ts'
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
  const http = openAnswer(context, request, response)
  const exchange = {
    caller,
    signal: http.signal,
    challenges: true,
    notify: (method: string, params: object) => http.send({ jsonrpc: '2.0', method, params }),
  }
  const answer = await modern.answer(message, exchange, request.headers)
  http.end(answer, answer.status)
}
