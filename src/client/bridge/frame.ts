import { type Code, codes } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { McpMessage, McpRequest } from '../../common/mcp/message.ts'
import { namesRevision } from '../../common/mcp/protocol.ts'

/** A message as received, and its parsed form. The received form is passed on unchanged. */
export interface Line {
  readonly text: string
  readonly message: McpMessage
}

/** The remote end of a bridge. */
export interface Remote {
  /** Resolves once the message has left; errors of a request go to `onError`. */
  send(line: Line): Promise<void>
  close(): Promise<void>
}

export interface RemoteEvents {
  /** Receives one message of the remote; resolves when the host can take more. */
  receive(text: string): Promise<void>
  /** Called if the remote will not answer this request. */
  onError(request: McpRequest, fault: unknown): Promise<void>
  /** Receives a text for the user that belongs to no message. */
  onMessage(words: string): void
  /** Called when a session of a legacy protocol version has ended. It accepts no further requests. */
  onSessionLost(words: string): void
}

/** True for a message that names its protocol version: it needs no session. */
export function isStateless({ message }: Line): boolean {
  return 'params' in message && namesRevision(message.params)
}

const serverError = -32000

/** The JSON-RPC error that answers a request which the remote does not answer. */
export function faultText(id: unknown, fault: unknown): string {
  const { message, code, status, hint, challenge } = isError(fault) ? fault : { message: String(fault) }
  const number = typeof code === 'string' && code in codes ? codes[code as Code].rpc : serverError
  const data = { code: code ?? 'unavailable', status, hint, challenge }
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: number, message, data } })
}

/** What the user reads of a message without an answer, such as a notification, that the remote did not take. */
export function notSent(fault: unknown): string {
  return `Not sent: ${isError(fault) ? fault.message : fault}`
}

interface ErrorFields {
  readonly message: string
  readonly code?: unknown
  readonly status?: unknown
  readonly hint?: unknown
  readonly challenge?: unknown
}

function isError(fault: unknown): fault is ErrorFields {
  return fault instanceof Error || (isRecord(fault) && typeof fault.message === 'string')
}
