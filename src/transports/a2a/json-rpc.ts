import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Mount } from '../http/app.ts'
import { parseBody } from '../http/body.ts'
import { whileStanding } from '../http/caller.ts'
import { requestId } from '../http/request-id.ts'
import { failureHeaders, type Headers, send } from '../http/respond.ts'
import { parseError, type RpcId, type RpcRequest, readRequest } from '../json-rpc/frames.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { type Dialect, dialect10, isOperation } from './protocol/dialect.ts'
import { errorOf, refusal } from './protocol/error.ts'
import { agentAt, extensionHeaders, pathOf, queryOf, readCall, versionOf } from './protocol/request.ts'
import type { Answer, Perform } from './service.ts'
import { sendEvents } from './stream.ts'
import type { StreamEvent } from './tasks/view.ts'
import { dialect03 } from './v0_3/dialect.ts'

/** The outcome of one frame. It has no id for a notification. */
type Answered =
  | { readonly id: RpcId | undefined; readonly answer: Answer; readonly write: Write }
  | { readonly id: RpcId | undefined; readonly thrown: unknown; readonly code?: number; readonly http?: 200 }

interface Write {
  readonly result: (json: string) => string
  readonly event: (event: StreamEvent) => string
}

/**
 * A2A 1.0 section 9 and A2A 0.3 at `POST /a2a/v1`, one request at a time. Errors of the HTTP request as a whole have
 * their HTTP status. A missing token has the status 401 too, since clients then start to obtain a token; all other
 * answers are 200.
 */
export function a2aJsonRpcMount(context: TransportContext, perform: Perform): Mount {
  async function answerFrame(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ): Promise<Answered> {
    const { body, call } = await readCall(context, request, response, id)
    const frame = readFrame(body, call.principal)
    if (!('method' in frame)) return frame
    try {
      const dialect = dialectOf(request, frame.method)
      const operation = dialect.operation(frame.method)
      const params = dialect.params(operation, withTenant(request, frame.params))
      const answer = await perform(operation, params, call)
      const head = `{"jsonrpc":"2.0","id":${JSON.stringify(frame.id ?? null)},"result":`
      const write: Write = {
        result: (json) => `${head}${dialect.result(operation, json)}}`,
        event: (event) => `${head}${JSON.stringify(dialect.event(event))}}`,
      }
      return { id: frame.id, answer, write }
    } catch (thrown) {
      return { id: frame.id, thrown, http: 200 }
    }
  }

  function errorFrame(id: RpcId | undefined, thrown: unknown, requestId: string, code?: number) {
    const rendered = errorOf(context, thrown, requestId)
    const error = { code: code ?? rendered.rpc, message: rendered.message, data: rendered.details }
    return { ...rendered, frame: JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error }) }
  }

  return {
    method: 'post',
    path: '/a2a/v1',
    direct: '/a2a/v1',
    async handler(request, response) {
      const id = requestId(request)
      const answered = await answerFrame(request, response, id).catch(
        (thrown: unknown): Answered => ({ id: null, thrown }),
      )
      const common: Headers = { 'X-Request-Id': id, ...extensionHeaders(request) }
      const json = { ...common, 'Content-Type': 'application/json' }
      // A notification gets no answer: JSON-RPC 2.0 section 4.1.
      if (answered.id === undefined) {
        if ('answer' in answered && 'events' in answered.answer) leave(answered.answer.events)
        send(request, response, 204, '', common)
      } else if ('thrown' in answered) {
        const { frame, http, failure } = errorFrame(answered.id, answered.thrown, id, answered.code)
        const status = failure?.code === 'unauthenticated' ? http : (answered.http ?? http)
        const headers = failure
          ? failureHeaders(context, request, failure, id)
          : { 'Cache-Control': 'no-store' }
        send(request, response, status, frame, { ...json, ...headers })
      } else if ('json' in answered.answer) {
        send(request, response, 200, answered.write.result(answered.answer.json), json)
      } else {
        const style = {
          write: answered.write.event,
          fault: (thrown: unknown) => errorFrame(answered.id, thrown, id).frame,
          watch: (end: (reason: Failure) => void) => whileStanding(context, request, response, end),
        }
        await sendEvents(response, answered.answer.events, style, common)
      }
    },
  }
}

function leave(events: AsyncIterable<unknown>): void {
  void events[Symbol.asyncIterator]().return?.()
}

function readFrame(text: Buffer, principal: Principal | null): RpcRequest | Answered {
  let frame: unknown
  try {
    frame = parseBody(text, principal)
  } catch (thrown) {
    const isSyntax = Failure.from(thrown).code === 'invalid_request'
    return { id: null, thrown, ...(isSyntax && { code: parseError }), http: 200 }
  }
  const read = readRequest(frame)
  if (!('failure' in read)) return read
  return { id: read.id, thrown: read.failure, code: read.code, http: 200 }
}

/** 0.3 has no tenants: each agent has its own URL, `/a2a/v1?tenant=NAME` or `/a2a/v1/NAME`. */
function withTenant(request: IncomingMessage, params: unknown): unknown {
  const tenant = queryOf(request.url ?? '').get('tenant') ?? agentAt(pathOf(request))
  // A client by the protocol buffers may state an empty tenant.
  return tenant && isRecord(params) ? { ...params, tenant: params.tenant || tenant } : params
}

/** Throws A2aRefusal VERSION_NOT_SUPPORTED for another version, and for a method of 1.0 without the version header. */
function dialectOf(request: IncomingMessage, method: string): Dialect {
  const version = versionOf(request)
  if (version === '1.0') return dialect10
  if (version === undefined || isOperation(method)) throw refusal('VERSION_NOT_SUPPORTED')
  return dialect03
}
