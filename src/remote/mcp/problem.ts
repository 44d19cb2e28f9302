import { Failure } from '../../../schemas/failure.ts'
import { failureOfProblem, textOf } from '../refusal.ts'

const unknownTool = /unknown tool|no such tool|there is no tool|tool\b.{0,300}?\bnot found|not a known tool/is

/** A JSON-RPC error as MCP has it. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The Failure that a JSON-RPC error amounts to. */
export function failureOfRpc({ code, message, data }: RpcError): Failure {
  const told = failureOfProblem(data, { who: 'The agent' })
  if (told) return told
  const words = textOf(message) ?? `The agent answered with error ${code}.`
  if (code === -32601) return new Failure('unknown_action', words)
  if (code === -32602)
    return new Failure(unknownTool.test(words) ? 'unknown_action' : 'invalid_request', words)
  return new Failure('upstream_failed', words, { upstream: { code: String(code) } })
}
