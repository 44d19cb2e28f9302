import { parseJson } from '../../common/json.ts'
import type { Problem, ProblemCode } from './schema.ts'

/** A refusal of the gateway: its problem details (RFC 9457), or only the status if the answer has no such body. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly status: number
  /** Undefined if the answer does not come from the gateway, for example from a proxy. */
  readonly code: ProblemCode | undefined
  readonly problem: Problem | undefined
  /** Id of the request, as in the log of the gateway. */
  readonly request_id: string | undefined

  constructor(status: number, problem: Problem | undefined, request_id: string | undefined) {
    super(problem?.detail ?? `The gateway answered with status ${status}.`)
    this.status = status
    this.code = problem?.code
    this.problem = problem
    this.request_id = request_id
  }

  /** Seconds to wait before the same call may succeed. */
  get retry_after_s(): number | undefined {
    return this.problem?.retry_after_s
  }
}

/** Reads the refusal in an answer. */
export async function problemIn(response: Response): Promise<ProblemError> {
  const id = response.headers.get('X-Request-Id') ?? undefined
  const text = await response.text()
  const isProblem = response.headers.get('Content-Type')?.startsWith('application/problem+json')
  return new ProblemError(
    response.status,
    isProblem ? (parseJson(text) as Problem | undefined) : undefined,
    id,
  )
}
