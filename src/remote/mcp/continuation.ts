import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import type { RemoteAnswer, RemoteTask } from '../remote-agent.ts'

/** A result that asks for more input before the call goes on (SEP-2322). */
export interface InputRequiredResult extends JsonObject {
  readonly inputRequests?: JsonObject
  readonly requestState?: string
}

/** A call of a tool that waits for input; the reference of its task holds it. */
const PausedCall = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.json()),
  state: z.string().optional(),
  /** The keys of the questions. */
  keys: z.array(z.string()),
})

const maxReference = 32 * 1024

export function isQuestion(result: JsonObject): result is InputRequiredResult {
  return result.resultType === 'input_required'
}

/** The questions as a task that waits for its caller. Throws Failure `upstream_invalid` for none, or a state that is too long. */
export function questionOf(request: JsonObject, result: InputRequiredResult): RemoteAnswer {
  const { inputRequests = {}, requestState } = result
  if (Object.keys(inputRequests).length === 0) {
    throw new Failure('upstream_invalid', 'The agent answered input_required without a question.')
  }
  const { name, arguments: params } = request
  const waiting = { name, arguments: params, state: requestState, keys: Object.keys(inputRequests) }
  const task_id = JSON.stringify(waiting)
  if (task_id.length > maxReference) {
    throw new Failure(
      'upstream_invalid',
      `The agent asks for input, with arguments and a state of more than ${maxReference} characters.`,
    )
  }
  return { task: { task_id }, question: shown(inputRequests), content: { protocol: 'mcp', result } }
}

/** One question as `{text, schema}`; several by their keys. */
function shown(questions: JsonObject): Json {
  const entries = Object.entries(questions).map(([key, question]) => [key, shownQuestion(question)] as const)
  const [only] = entries
  return entries.length === 1 && only ? only[1] : Object.fromEntries(entries)
}

function shownQuestion(question: Json): Json {
  const { method, params } = question as { method: string; params?: JsonObject }
  const { message, requestedSchema, url } = params ?? {}
  if (method !== 'elicitation/create') return { method, ...(params && { params }) }
  return {
    text: message ?? '',
    ...(requestedSchema !== undefined && { schema: requestedSchema }),
    ...(url !== undefined && { url }),
  }
}

/** The request that continues a waiting call with the caller's input. */
export function continued({ task_id }: RemoteTask, input: JsonObject): JsonObject {
  const { name, arguments: params, state, keys } = pausedCall(task_id)
  return {
    name,
    arguments: params,
    inputResponses: responses(keys, input),
    ...(state !== undefined && { requestState: state }),
  }
}

/** Throws Failure `not_found` for the task of an agent that spoke another protocol at that time. */
function pausedCall(task_id: string): z.infer<typeof PausedCall> {
  try {
    return PausedCall.parse(JSON.parse(task_id))
  } catch (fault) {
    throw new Failure('not_found', 'The agent has no such task.', {}, fault)
  }
}

/**
 * `{inputResponses}` holds the answers of an MCP client. Any other input is the content of the only form, or of each form
 * by its key; `{action: "decline"}` and `{action: "cancel"}` refuse.
 */
function responses(keys: readonly string[], input: JsonObject): JsonObject {
  if (isRecord(input.inputResponses) && Object.keys(input).length === 1) {
    return input.inputResponses as JsonObject
  }
  const [only] = keys
  if (keys.length === 1 && only !== undefined) return { [only]: response(input) }
  return Object.fromEntries(keys.map((key) => [key, response(input[key] ?? { action: 'cancel' })]))
}

function response(input: Json): JsonObject {
  if (isRecord(input) && ['accept', 'decline', 'cancel'].includes(String(input.action))) {
    const isResponse = Object.keys(input).every((key) => key === 'action' || key === 'content')
    if (isResponse) return input as JsonObject
  }
  return { action: 'accept', content: input }
}
