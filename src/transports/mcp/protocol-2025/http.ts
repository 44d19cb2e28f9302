import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '../../../../schemas/failure.ts'
import { isMessage, type McpMessage } from '../../../common/mcp/message.ts'
import { modernVersion } from '../../../common/mcp/protocol.ts'
import type { EventStream } from '../../http/events.ts'
import { send } from '../../http/respond.ts'
import { signalOf } from '../../http/rest.ts'
import { maximumBatch } from '../../json-rpc/frames.ts'
import { answerMembers, maxAnswersLength } from '../../json-rpc/json-rpc.ts'
import type { TransportContext } from '../../shared/transport-context.ts'
import { json, openAnswer, openEndless } from '../http-answer.ts'
import { refusal } from '../protocol-2026/frame.ts'
import type { McpCaller } from '../protocol-2026/protocol.ts'
import { type Legacy, type LegacyAnswer, type LegacyPost, versions } from './legacy.ts'

/**
 * Answers one request over Streamable HTTP of the protocol versions with `initialize`: as JSON or, from the first
 * notification or question on, as server-sent events.
 */
export async function serveLegacy(
  context: Pick<TransportContext, 'site' | 'standing'>,
  legacy: Legacy,
  caller: McpCaller,
  body: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const session_id = sessionIn(request)
  if (request.method === 'DELETE' && session_id !== undefined) return void response.writeHead(204).end()
  if (request.method === 'GET' && legacy.streams)
    return await listen(context, legacy, caller, request, response)
  if (request.method !== 'POST') return answerOther(request, response, allowed(legacy, session_id))
  const refused = refusalOf(request, body)
  if (refused) return send(request, response, 400, refusal(refused, body), json)
  const http = openAnswer(context, request, response)
  const post = { caller, session_id, over_http: true, signal: http.signal, send: http.send }
  const answer = Array.isArray(body)
    ? await takeBatch(legacy, post, body)
    : await legacy.take({ ...post, message: body as McpMessage })
  const { text, failure } = answer
  if (text === undefined) {
    if (!http.signal.aborted) response.writeHead(202).end()
    return
  }
  const session = answer.session_id === undefined ? {} : { 'Mcp-Session-Id': answer.session_id }
  http.end({ text, ...(failure && { failure }) }, 200, session)
}

/** The stream of a session: notifications of changes, if the agent tells of any. */
async function listen(
  context: Pick<TransportContext, 'standing'>,
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
      over_http: true,
      signal,
      opened() {
        if (!signal.aborted) stream ??= openEndless(context, request, response)
      },
      async send(message) {
        await stream?.write({ event: 'message', data: JSON.stringify(message) })
      },
    })
  } catch {
    // A client goes on without a stream that is refused.
    if (!stream) response.writeHead(405, { Allow: 'DELETE, OPTIONS, POST' }).end()
  }
  stream?.end()
}

/** A batch, as 2025-03-26 has them: the answers in one array. */
async function takeBatch(
  legacy: Legacy,
  post: Omit<LegacyPost, 'message'>,
  messages: readonly McpMessage[],
): Promise<LegacyAnswer> {
  const max = await maxAnswersLength(post.caller)
  const answers = await answerMembers(messages, max, async (message, failure) => {
    if (failure) return 'id' in message ? refusal(failure, message) : undefined
    return (await legacy.take({ ...post, message })).text
  })
  return answers.length > 0 ? { text: `[${answers.join(',')}]` } : {}
}

/** What is wrong with a request as such. */
function refusalOf({ headers }: IncomingMessage, body: unknown): Failure | undefined {
  const messages = Array.isArray(body) ? body : [body]
  if (messages.length === 0 || messages.length > maximumBatch || !messages.every(isMessage)) {
    const example = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    return new Failure('invalid_request', 'The body is not a message of JSON-RPC 2.0.', {
      hint: `Send a message such as ${example}, its params by name, or a list of at most ${maximumBatch}.`,
    })
  }
  const version = headers['mcp-protocol-version']
  // `initialize` states in its params what the client wants.
  const isFirst = messages.some((message) => 'method' in message && message.method === 'initialize')
  if (version === undefined || isFirst || versions.includes(String(version))) return undefined
  return new Failure(
    'invalid_request',
    `The protocol version ${String(version).slice(0, 50)} is not supported.`,
    {
      hint: `Send one of ${[modernVersion, ...versions].join(', ')} as MCP-Protocol-Version.`,
    },
  )
}

/** GET reads only the notifications of a listed server, and DELETE ends only a session that is named. */
function allowed({ streams }: Legacy, session_id: string | undefined): string {
  const methods = [...(session_id === undefined ? [] : ['DELETE']), ...(streams ? ['GET'] : [])]
  return [...methods, 'OPTIONS', 'POST'].join(', ')
}

function answerOther(request: IncomingMessage, response: ServerResponse, allow: string): void {
  if (request.method === 'OPTIONS') return void send(request, response, 204, '', { Allow: allow })
  const failure = new Failure('method_not_allowed', `This path takes ${allow}, not ${request.method}.`, {
    hint: 'Connect an MCP client to this URL, or send a message of MCP by POST.',
  })
  send(request, response, 405, refusal(failure, null, -32000), { ...json, Allow: allow })
}

function sessionIn({ headers }: IncomingMessage): string | undefined {
  const id = headers['mcp-session-id']
  return typeof id === 'string' ? id : undefined
}
