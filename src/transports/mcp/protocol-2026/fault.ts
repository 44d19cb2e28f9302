import type { Failure } from '../../../../schemas/failure.ts'
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
