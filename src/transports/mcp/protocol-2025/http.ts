import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes, Failure } from '../../../../schemas/failure.ts'
import { isMessage } from '../../../common/mcp/message.ts'
import { isChallenge } from '../../http/challenge.ts'
import { type EventStream, openEvents } from '../../http/events.ts'
import { requestId } from '../../http/request-id.ts'
import { failureHeaders, send } from '../../http/respond.ts'
import { signalOf } from '../../http/rest.ts'
import type { TransportContext } from '../../shared/transport-context.ts'
import { refusal } from '../protocol-2026/frame.ts'
import type { McpCaller } from '../protocol-2026/protocol.ts'
import type { Legacy } from './legacy.ts'

/**
 * Answers one request over Streamable HTTP of the protocol versions with `initialize`: as JSON or, from the first
 * notification or question on, as server-sent events.
 */
export async function serveLegacy(
  context: Pick<TransportContext, 'site'>,
  legacy: Legacy,
  caller: McpCaller,
  body: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'DELETE') return void response.writeHead(204).end()
  if (request.method === 'GET') return await listen(legacy, caller, request, response)
  if (!isMessage(body)) {
    const failure = new Failure(
      'invalid_request',
      'A request holds one JSON-RPC 2.0 message, its params by name.',
    )
    return send(request, response, 400, refusal(failure, body), json)
  }
  const signal = signalOf(response)
  let stream: EventStream | undefined
  const { text, session_id, failure } = await legacy.take({
    message: body,
    caller,
    session_id: sessionIn(request),
    signal,
    async send(message) {
      if (signal.aborted) return
      stream ??= openEvents(response)
      await stream.write({ event: 'message', data: JSON.stringify(message) })
    },
  })
  if (signal.aborted) return
  if (text === undefined) response.writeHead(202).end()
  else if (stream) stream.end({ event: 'message', data: text })
  else if (failure && isChallenge(failure)) {
    const headers = failureHeaders(context, request, failure, requestId(request))
    send(request, response, codes[failure.code].http, text, { ...headers, ...json })
  } else send(request, response, 200, text, { ...json, ...(session_id && { 'Mcp-Session-Id': session_id }) })
}

/** The stream of a session: notifications of changes, if the agent tells of any. */
async function listen(
  legacy: Legacy,
  caller: McpCaller,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const signal = signalOf(response)
  let stream: EventStream | undefined
  try {
    await legacy.listen({
      caller,
      session_id: sessionIn(request),
      signal,
      async send(message) {
        if (signal.aborted) return
        stream ??= openEvents(response)
        if ('method' in message && message.method === acknowledgement) return
        await stream.write({ event: 'message', data: JSON.stringify(message) })
      },
    })
  } catch {
    // A client goes on without a stream that is refused.
    if (!stream) response.writeHead(405, { Allow: 'POST, DELETE' }).end()
  }
  stream?.end()
}

/** Since 2026-07-28; legacy clients do not know it. */
const acknowledgement = 'notifications/subscriptions/acknowledged'

function sessionIn({ headers }: IncomingMessage): string | undefined {
  const id = headers['mcp-session-id']
  return typeof id === 'string' ? id : undefined
}

const json = { 'Content-Type': 'application/json' }
