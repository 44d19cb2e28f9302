import { type Code, codes, Failure, type FieldError } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'

/** What the caller can mend; all else that another gateway says went wrong is its own affair. */
const mendable: ReadonlySet<string> = new Set<Code>([
  'invalid_request',
  'not_found',
  'unknown_action',
  'wrong_state',
  'conflict',
  'precondition_failed',
  'too_large',
  'reserved_tag',
  'hosted_agent',
  'not_callable',
  'loop_detected',
])
const longest = 2_000
const mostErrors = 20
const unknownTool = /unknown tool|no such tool|there is no tool|tool\b.{0,300}?\bnot found|not a known tool/is

/** What to do about an agent that does not let us in. */
export const credential = 'Whoever may use this agent can store a credential for it with the gateway.'

/** A JSON-RPC error as MCP has it. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** What another side said, cut to what an answer holds. */
export function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

/** The Failure that a problem of another Dragoman (`_meta`'s `dragoman/problem`, `error.data`) amounts to here. */
export function failureOfProblem(problem: unknown): Failure | undefined {
  if (!isRecord(problem) || typeof problem.code !== 'string' || !Object.hasOwn(codes, problem.code))
    return undefined
  const message = cut(typeof problem.detail === 'string' ? problem.detail : 'The agent refused.')
  if (mendable.has(problem.code)) {
    const errors = fieldErrors(problem.errors)
    return new Failure(problem.code as Code, message, errors.length > 0 ? { errors } : {})
  }
  const seconds = problem.retry_after_s
  return new Failure('upstream_failed', message, {
    upstream: { code: problem.code },
    ...(['unauthenticated', 'forbidden'].includes(problem.code) && { hint: credential }),
    ...(typeof seconds === 'number' && seconds >= 0 && { retry_after_s: Math.min(seconds, 86_400) }),
  })
}

/** The Failure that a JSON-RPC error amounts to. */
export function failureOfRpc({ code, message, data }: RpcError): Failure {
  const told = failureOfProblem(data)
  if (told) return told
  const words = cut(message) || `The agent answered with error ${code}.`
  if (code === -32601) return new Failure('unknown_action', words)
  if (code === -32602)
    return new Failure(unknownTool.test(words) ? 'unknown_action' : 'invalid_request', words)
  return new Failure('upstream_failed', words, { upstream: { code: String(code) } })
}

function fieldErrors(errors: unknown): FieldError[] {
  if (!Array.isArray(errors)) return []
  return errors.slice(0, mostErrors).flatMap((one: unknown) => {
    if (!isRecord(one) || typeof one.pointer !== 'string' || typeof one.detail !== 'string') return []
    return [{ pointer: one.pointer.slice(0, 300), detail: cut(one.detail) }]
  })
}
