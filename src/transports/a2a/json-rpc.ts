import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { nearest } from '../../../schemas/nearest.ts'
import type { Call } from '../../router/router.ts'
import type { Door } from '../door.ts'
import type { Mount } from '../http/app.ts'
import { parseJson } from '../http/body.ts'
import { requestId } from '../http/identity.ts'
import { failureHeaders, type Headers, send } from '../http/respond.ts'
import { type Id, invalidRequest, parseError, type Request, readRequest } from '../json-rpc/frames.ts'
import { errorOf } from './error.ts'
import { type Operation, operations } from './operations.ts'
import { assertVersion, perform, readCall } from './perform.ts'

/** What one frame comes to. A notification has no id. */
type Answer =
  | { readonly id: Id | undefined; readonly result: string }
  | { readonly id: Id | undefined; readonly thrown: unknown; readonly code?: number; readonly http?: 200 }

interface Written {
  readonly status: number
  readonly frame: string
  readonly headers: Headers
}

/**
 * A2A 1.0 section 9: `POST /a2a/v1`, one request at a time. What concerns the HTTP request as a whole has its HTTP
 * status, and so has 401 for whatever needs a token, by which clients get themselves one; everything else is 200.
 */
export function a2aJsonRpcMount(door: Door): Mount {
  async function answerFrame(text: Buffer, request: IncomingMessage, call: Call): Promise<Answer> {
    const frame = readFrame(text)
    if (!('method' in frame)) return frame
    const { id, method, params } = frame
    try {
      assertVersion(request)
      return { id, result: await perform(door, operationOf(method), params, call) }
    } catch (thrown) {
      return { id, thrown, http: 200 }
    }
  }

  function written(request: IncomingMessage, answer: Answer, requestId: string): Written {
    const id = answer.id ?? null
    if ('result' in answer) {
      const frame = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${answer.result}}`
      return { status: 200, frame, headers: {} }
    }
    const { http, rpc, message, details, failure } = errorOf(door, answer.thrown, requestId)
    const error = { code: answer.code ?? rpc, message, data: details }
    return {
      status: failure?.code === 'unauthenticated' ? http : (answer.http ?? http),
      frame: JSON.stringify({ jsonrpc: '2.0', id, error }),
      headers: failure ? failureHeaders(door, request, failure, requestId) : { 'Cache-Control': 'no-store' },
    }
  }

  return {
    method: 'post',
    path: '/a2a/v1',
    direct: '/a2a/v1',
    async handler(request, response) {
      const id = requestId(request)
      const answer = await readCall(door, request, response, id).then(
        ({ body, call }) => answerFrame(body, request, call),
        (thrown: unknown): Answer => ({ id: null, thrown }),
      )
      const { status, frame, headers } = written(request, answer, id)
      const common = { 'X-Request-Id': id, ...headers }
      // A notification is not answered: JSON-RPC 2.0 section 4.1.
      if (answer.id === undefined) send(request, response, 204, '', common)
      else send(request, response, status, frame, { ...common, 'Content-Type': 'application/json' })
    },
  }
}

function readFrame(text: Buffer): Request | Answer {
  let frame: unknown
  try {
    frame = parseJson(text)
  } catch (thrown) {
    return { id: null, thrown, code: parseError, http: 200 }
  }
  const read = readRequest(frame)
  if (!('failure' in read)) return read
  return { id: read.id, thrown: read.failure, code: invalidRequest, http: 200 }
}

function operationOf(method: string): Operation {
  const found = operations.find(({ name }) => name === method)
  if (found) return found
  const names = [...new Set(operations.map(({ name }) => name))]
  const close = nearest(method, names)
  throw new Failure('unknown_action', `A2A 1.0 has no method ${method}.`, {
    hint: 'SendMessage sends a message.',
    ...(close.length > 0 && { nearest: close }),
  })
}
