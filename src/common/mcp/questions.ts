import { isRecord } from '../json.ts'
import type { RpcError } from './message.ts'

const capabilityOf: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** The methods with which a server may ask its client. */
export const questionMethods: ReadonlySet<string> = new Set(Object.keys(capabilityOf))

/** True if a client with these capabilities can answer every one of the questions (InputRequests of SEP-2322). */
export function canAnswer(
  capabilities: Readonly<Record<string, unknown>> | undefined,
  questions: Readonly<Record<string, unknown>>,
): boolean {
  return Object.values(questions).every((question) => {
    const method = isRecord(question) && typeof question.method === 'string' ? question.method : ''
    const capability = Object.hasOwn(capabilityOf, method) ? capabilityOf[method] : undefined
    return capability !== undefined && capabilities?.[capability] !== undefined
  })
}

/** The refusal in what a client sent for a question; undefined for an answer. */
export function refusalIn(response: unknown): RpcError | undefined {
  const error = isRecord(response) ? response.error : undefined
  if (!isRecord(error) || typeof error.message !== 'string' || !Number.isInteger(error.code)) return undefined
  return error as unknown as RpcError
}

/** The first refusal among the answers of a client (`inputResponses`). */
export function refusalAmong(responses: unknown): RpcError | undefined {
  const each = isRecord(responses) ? Object.values(responses) : []
  return each.map(refusalIn).find((refusal) => refusal !== undefined)
}

/** As in the Language Server Protocol; MCP has no code for it. */
const requestCancelled = -32800

/** In place of the answer of a client that has cancelled its request: the call ends, at the agent too. */
export const givenUp = {
  error: { code: requestCancelled, message: 'The client cancelled the request.' },
} as const

/** True for the answers of a client that has cancelled its request. */
export function isGivenUp(responses: unknown): boolean {
  return refusalAmong(responses)?.code === requestCancelled
}
