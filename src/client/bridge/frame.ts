import { type Code, codes } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { Message, Request } from '../../common/mcp/message.ts'
import { namesRevision } from '../../common/mcp/protocol.ts'

/** A message as it came, to be passed on to the letter, and what it says. */
export interface Line {
  readonly text: string
  readonly message: Message
}

/** The other end of a bridge. */
export interface Remote {
  /** Resolves once the message has left; what is wrong with a request is told to `failed`, by its own events. */
  send(line: Line): Promise<void>
  close(): Promise<void>
}

export interface RemoteEvents {
  /** One message of the remote; resolves when the host can take more. */
  receive(text: string): Promise<void>
  /** The remote will not answer this request. */
  onError(request: Request, fault: unknown): Promise<void>
  /** What the host should know and cannot be told in a message. */
  trouble(words: string): void
  /** A session of the 2025 era has ended, and nothing more can be asked in it. */
  onSessionLost(words: string): void
}

/** Whether a message names its revision: then it stands by itself, and any connection will do. */
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
