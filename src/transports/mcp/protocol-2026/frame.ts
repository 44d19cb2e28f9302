import { randomUUID } from 'node:crypto'
import { codes, Failure, problem } from '../../../../schemas/failure.ts'
import { isRecord } from '../../../../schemas/json.ts'
import { isId, isMessage, type McpMessage } from '../../../common/mcp/message.ts'
import { invalidRequest, parseError } from '../../json-rpc/frames.ts'
import { type MessageLimits, parseMessage } from '../../shared/message.ts'
import { assertPlainMessage } from './plain-message.ts'

/** The message in a text, or the answer that refuses the text. */
type Frame = { readonly message: McpMessage } | { readonly refusal: string }

export function readFrame(text: string, limits: MessageLimits): Frame {
  let value: unknown
  try {
    value = parseMessage(text, limits, 'frame')
  } catch (thrown) {
    const failure = Failure.from(thrown)
    const code = failure.code === 'invalid_request' ? parseError : codes[failure.code].rpc
    return { refusal: refusal(failure, null, code) }
  }
  try {
    assertPlainMessage(value)
    if (isMessage(value)) return { message: value }
    throw new Failure('invalid_request', 'A frame holds one JSON-RPC 2.0 message, its params by name.')
  } catch (thrown) {
    return { refusal: refusal(Failure.from(thrown), value) }
  }
}

/** The error for an invalid message, with its id if that is valid. */
export function refusal(failure: Failure, message: unknown, code = invalidRequest): string {
  const error = { code, message: failure.message, data: problem(failure, randomUUID()) }
  const id = isRecord(message) && isId(message.id) ? message.id : null
  return JSON.stringify({ jsonrpc: '2.0', error, id })
}

export function repeated(message: McpMessage): string {
  return refusal(new Failure('invalid_request', 'A request with this id is already running.'), message)
}
