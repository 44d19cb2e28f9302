import { randomUUID } from 'node:crypto'
import { Failure, problem } from '../../../../schemas/failure.ts'
import { nearest } from '../../../../schemas/nearest.ts'
import type { McpId } from '../../../common/mcp/message.ts'

/** The error codes of MCP 2026-07-28 (basic/index, Error Codes) and those of JSON-RPC that it uses. */
export const faults = {
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** A request that is answered with a JSON-RPC error. `status` is the HTTP status of the answer. */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: number
  readonly data: unknown
  readonly status: number
  /** The failure behind the error, if there is one. */
  readonly failure: Failure | undefined

  constructor(
    code: number,
    message: string,
    { data, status = 200, failure }: { data?: unknown; status?: number; failure?: Failure } = {},
  ) {
    super(message)
    this.code = code
    this.data = data
    this.status = status
    this.failure = failure
  }
}

/** The JSON-RPC response with the error. */
export function faultText({ code, message, data }: Fault, id: McpId | null): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } })
}

/**
 * The error for a method that a server of MCP does not have, with the nearest of those that it has, or with how the
 * method is called.
 */
export function unknownMethod(method: string, methods: Iterable<string>, how?: string): Fault {
  const shown = method.slice(0, 100)
  const close = how === undefined ? nearest(shown, methods) : []
  const question =
    close.length > 0 ? `. Did you mean ${close.join(', ')}?` : how === undefined ? '' : `. ${how}`
  const details = close.length > 0 ? { nearest: close } : {}
  const failure = new Failure('unknown_action', `Method not found: ${shown}${question}`, details)
  return new Fault(faults.unknownMethod, failure.message, {
    status: 404,
    data: problem(failure, randomUUID()),
  })
}

/** The error for a request that breaks the protocol; `data` is what the specification states beside the problem. */
export function refused(code: number, message: string, data: object = {}): Fault {
  const failure = new Failure('invalid_request', message)
  return new Fault(code, message, { status: 400, data: { ...problem(failure, randomUUID()), ...data } })
}

/** The error for a fault of the gateway itself. */
export function internalFault(): Fault {
  const failure = new Failure('internal', 'An unexpected error occurred; it has been logged.')
  return new Fault(faults.internal, failure.message, { data: problem(failure, randomUUID()) })
}
