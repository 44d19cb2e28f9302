import type { Update } from '../../../schemas/action.ts'
import { codes, Failure, problem } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { stringify } from '../shared/stringify.ts'

/** Maximum number of requests in one batch. */
export const maximumBatch = 50

export type RpcId = string | number | null

/** One valid request; a notification has no `id`. */
export interface RpcRequest {
  readonly jsonrpc: '2.0'
  readonly method: string
  readonly params: JsonObject
  readonly id?: RpcId
}

/** JSON-RPC 2.0 section 5.1: `code` is the number of the failure, `data` its problem details. */
export function errorFrame(
  failure: Failure,
  requestId: string,
  id: RpcId,
  code: number = codes[failure.code].rpc,
): string {
  const error = { code, message: failure.message, data: problem(failure, requestId) }
  return JSON.stringify({ jsonrpc: '2.0', error, id })
}

/** A notification with an update for a subscription, under the id of its request; the answer follows at the end. */
export function updateFrame(update: Update, id: RpcId): string {
  const members =
    'part' in update ? `"part":${stringify(update.part as Json)}` : JSON.stringify(update).slice(1, -1)
  return `{"jsonrpc":"2.0","method":"update","params":{"id":${JSON.stringify(id)},${members}}}`
}

export const parseError = -32700
export const invalidRequest = -32600
const invalidParams = codes.invalid_request.rpc

/** A frame that is no request, or not one that any method takes; `code` is the number of its error. */
interface Unreadable {
  readonly failure: Failure
  readonly id: RpcId
  readonly code: number
}

/** The request in a frame, or the error for its answer. */
export function readRequest(frame: unknown): RpcRequest | Unreadable {
  const refused = (pointer: string, detail: string, id: RpcId): Unreadable => ({
    failure: notARequest(pointer, detail),
    id,
    code: invalidRequest,
  })
  if (!isRecord(frame)) return refused('', 'A request is an object.', null)
  const { jsonrpc, method, params = {}, id } = frame
  const answerId = isId(id) ? id : null
  if ('id' in frame && !isId(id))
    return refused('/id', 'Use a string, a number up to 2^53 - 1, or null.', null)
  if (jsonrpc !== '2.0') return refused('/jsonrpc', 'This must be "2.0".', answerId)
  if (typeof method !== 'string') return refused('/method', 'This must be a string.', answerId)
  if (Array.isArray(params)) return { failure: positionalParams(), id: answerId, code: invalidParams }
  if (!isRecord(params)) return refused('/params', 'Give params by name, in an object.', answerId)
  const request = { jsonrpc: '2.0', method, params: params as JsonObject } as const
  return isId(id) ? { ...request, id } : request
}

/** A number beyond 2^53 - 1 cannot be returned exactly. */
function isId(value: unknown): value is RpcId {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return value === null || typeof value === 'string'
}

/** JSON-RPC 2.0 section 4.2 allows them; no method here takes them. */
function positionalParams(): Failure {
  return Failure.invalidField('/params', 'Give params by name, in an object.')
}

export function notARequest(pointer: string, detail: string): Failure {
  const where = pointer && `${pointer}: `
  return new Failure('invalid_request', `Not a JSON-RPC 2.0 request. ${where}${detail}`, {
    errors: [{ pointer, detail }],
  })
}
