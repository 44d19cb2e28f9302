import { randomUUID } from 'node:crypto'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server'
import { Failure, problem } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { invalidRequest, parseError } from '../json-rpc/frames.ts'
import { assertPlainMessage } from './depth.ts'

/** What a text holds: a message that the SDK takes, or the answer to one that it would drop without a word. */
export type Frame = { readonly message: JSONRPCMessage } | { readonly refusal: JSONRPCMessage }

export function readFrame(text: string): Frame {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { refusal: refusal(new Failure('invalid_request', 'The frame is not JSON.'), null, parseError) }
  }
  try {
    assertPlainMessage(value)
    if (isMessage(value)) return { message: value }
    throw new Failure('invalid_request', 'A frame holds one JSON-RPC 2.0 message, its params by name.')
  } catch (thrown) {
    return { refusal: refusal(Failure.from(thrown), value) }
  }
}

/** The error that answers an unsound message, with its id where that is sound. */
export function refusal(failure: Failure, message: unknown, code = invalidRequest): JSONRPCMessage {
  const error = { code, message: failure.message, data: problem(failure, randomUUID()) }
  return { jsonrpc: '2.0', error, id: idOf(message) } as JSONRPCMessage
}

export function repeated(message: JSONRPCMessage): JSONRPCMessage {
  return refusal(new Failure('invalid_request', 'A request with this id waits for its answer.'), message)
}

/** The SDK's own judgement, so that it drops nothing that passed here. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isRecord(value)) return false
  if (!('method' in value)) return isJSONRPCResponse(value)
  return 'id' in value ? isJSONRPCRequest(value) : isJSONRPCNotification(value)
}

function idOf(message: unknown): string | number | null {
  const id = isRecord(message) ? message.id : undefined
  return typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null
}
