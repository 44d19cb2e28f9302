import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes, Failure, problem } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { isMessage, isRequest, type McpRequest } from '../../common/mcp/message.ts'
import type { Mount } from '../http/app.ts'
import { parseBody, readBody } from '../http/body.ts'
import { identify } from '../http/caller.ts'
import type { ReadRequest } from '../http/input.ts'
import { requestId } from '../http/request-id.ts'
import { send } from '../http/respond.ts'
import type { Handler } from '../http/rest.ts'
import { invalidRequest, parseError } from '../json-rpc/frames.ts'
import { refuseRequest } from '../json-rpc/refuse.ts'
import { clientOf } from '../shared/client-address.ts'
import { type AllowsOrigin, assertOrigin } from '../shared/origins.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { json, openAnswer } from './http-answer.ts'
import { serveLegacy } from './protocol-2025/http.ts'
import { Fault, faultText } from './protocol-2026/fault.ts'
import { assertPlainMessage } from './protocol-2026/plain-message.ts'
import type { McpCaller, Modern } from './protocol-2026/protocol.ts'
import type { McpService } from './service.ts'

interface McpHttpOptions {
  readonly context: TransportContext
  /** The path, with its parameters. */
  readonly path: string
  /** The service at the path. Throws Failure if there is none. */
  readonly serviceOf: (params: ReadRequest['params'], caller: McpCaller) => McpService | Promise<McpService>
  readonly allowsOrigin: AllowsOrigin
}

/** MCP over Streamable HTTP, stateless, for all supported protocol versions. */
export function mcpMounts({ context, path, serviceOf, allowsOrigin }: McpHttpOptions): Mount[] {
  async function serve(request: ReadRequest, response: ServerResponse): Promise<void> {
    assertOrigin(request, allowsOrigin)
    const principal = await identify(context, request)
    const body =
      request.method === 'POST' ? readMessage(await readBody(request, principal), principal) : undefined
    const caller: McpCaller = {
      client: clientOf(context, request),
      identify: () => identify(context, request),
    }
    const service = await serviceOf(request.params, caller)
    if (isMessage(body) && isRequest(body) && service.modern.takes(body, request.headers)) {
      await serveModern(context, service.modern, caller, body, request, response)
    } else await serveLegacy(context, service.legacy, caller, body, request, response)
  }

  const handler: Handler = async (request, response) => {
    try {
      await serve(request, response)
    } catch (thrown) {
      if (thrown instanceof Fault) send(request, response, thrown.status, faultText(thrown, null), json)
      else refuseRequest(context, request, response, thrown, requestId(request))
    }
  }
  return (['get', 'post', 'delete', 'all'] as const).map((method) => ({
    method,
    path,
    handler,
    ...(!path.includes(':') && { direct: path }),
  }))
}

/**
 * Answers one POST (Streamable HTTP): as JSON or, from the first notification on, as server-sent events; as 401 or
 * 403 if another token is needed. A caller who closes the connection cancels the request.
 */
async function serveModern(
  context: Pick<TransportContext, 'site' | 'standing'>,
  modern: Modern,
  caller: McpCaller,
  message: McpRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const http = openAnswer(context, request, response, message.method === 'subscriptions/listen')
  const exchange = {
    caller,
    signal: http.signal,
    challenges: true,
    notify: (method: string, params: object) => http.send({ jsonrpc: '2.0', method, params }),
  }
  const answer = await modern.answer(message, exchange, request.headers)
  http.end(answer, answer.status)
}

/** Throws Fault -32700 for a body that is not JSON, -32600 for one that is nested too deep, -32013 for too many values. */
function readMessage(bytes: Buffer, principal: Principal | null): unknown {
  const value = judged(parseError, () => parseBody(bytes, principal))
  judged(invalidRequest, () => assertPlainMessage(value))
  return value
}

function judged<Result>(code: number, judge: () => Result): Result {
  try {
    return judge()
  } catch (thrown) {
    const failure = Failure.from(thrown)
    const { http, rpc } = codes[failure.code]
    const number = failure.code === 'invalid_request' ? code : rpc
    throw new Fault(number, failure.message, { status: http, data: problem(failure, randomUUID()) })
  }
}
