import { type Code, codes, Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../schemas/json.ts'
import { isInterrupted, isTerminal, type Part, TaskState } from '../../../schemas/task.ts'
import { failureOfProblem, textOf } from '../refusal.ts'
import type { RemoteAnswer } from '../remote-agent.ts'

/** A task as the agent sent it in ProtoJSON. */
export interface ReceivedTask {
  readonly id: string
  readonly contextId?: string
  readonly state: TaskState
  /** Parts of the task's status message. */
  readonly statusParts: readonly Part[]
  readonly artifacts: readonly (readonly Part[])[]
}

const maxFileBytes = 256 * 1024

/**
 * Parts as one value: a single data part is its value; text alone is `{text}`; anything else `{text?, parts}` with
 * bytes as `{media_type, base64}` and links as `{media_type, url}`. Throws Failure `upstream_invalid`.
 */
export function contentOf(parts: readonly Part[]): Json {
  const [only] = parts
  if (parts.length === 1 && only?.data !== undefined) return only.data
  const data = parts.filter((part) => part.data !== undefined)
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  // Text beside data repeats the data in words, for clients that cannot read data.
  if (data.length === 1 && data.length + texts.length === parts.length) return data[0]?.data ?? null
  const text = texts.length > 0 ? { text: texts.join('\n') } : {}
  if (texts.length === parts.length) return { text: texts.join('\n') }
  return { ...text, parts: parts.map(partOf) }
}

function partOf({ text, data, raw, url, filename, mediaType }: Part): Json {
  const about = { ...(mediaType && { media_type: mediaType }), ...(filename && { filename }) }
  if (text !== undefined) return { text }
  if (data !== undefined) return { data }
  if (url !== undefined) return { ...about, url }
  if (raw !== undefined && raw.length * 0.75 <= maxFileBytes) return { ...about, base64: raw }
  throw new Failure('upstream_invalid', `The agent sent a file of more than ${maxFileBytes} bytes.`)
}

/** The answer of a task; undefined while the agent works on it. */
export function answerOf(task: ReceivedTask): RemoteAnswer | undefined {
  const { id, contextId, state, statusParts, artifacts } = task
  if (isInterrupted(state)) {
    const question = statusParts.length > 0 ? contentOf(statusParts) : null
    return { task: { task_id: id, ...(contextId && { context_id: contextId }) }, question }
  }
  if (!isTerminal(state)) return undefined
  if (state !== 'TASK_STATE_COMPLETED') return { refused: failureOf(state, statusParts) }
  const parts = artifacts.flat()
  if (parts.length > 0) return { output: contentOf(parts) }
  return { output: statusParts.length > 0 ? contentOf(statusParts) : null }
}

/** The reason why a task failed, from its status message. */
function failureOf(state: TaskState, statusParts: readonly Part[]): Failure {
  const endState = state.replace('TASK_STATE_', '').toLowerCase()
  const text = textOf(statusParts.map((part) => part.text ?? '').join('\n'))
  const error = statusParts
    .map(({ data }) => (isRecord(data) && isRecord(data.error) ? data.error : undefined))
    .find(Boolean)
  const code = error && codeIn(error.details)
  const problem = code && failureOfProblem({ code, detail: text }, { who: 'The agent' })
  if (problem) return problem
  return new Failure('upstream_failed', text ?? `The agent's task was ${endState}.`, {
    upstream: { code: endState },
    retryable: false,
  })
}

/** The failure code in the ErrorInfo of an error (google.rpc), as other gateways write it. */
function codeIn(details: unknown): Code | undefined {
  const reasons = Array.isArray(details) ? details.filter(isRecord).map(({ reason }) => reason) : []
  return reasons.map(codeOfReason).find((code) => code !== undefined)
}

export function codeOfReason(reason: unknown): Code | undefined {
  const code = typeof reason === 'string' ? reason.toLowerCase() : ''
  return Object.hasOwn(codes, code) ? (code as Code) : undefined
}

/** Reads a task in ProtoJSON. Throws Failure `upstream_invalid`. */
export function readTask(json: unknown): ReceivedTask {
  if (!isRecord(json) || typeof json.id !== 'string' || !isRecord(json.status)) throw invalidTask()
  // The HTTP+JSON binding puts the id into a path.
  if (json.id === '' || json.id === '.' || json.id === '..') throw invalidTask()
  const state = TaskState.safeParse(json.status.state ?? 'TASK_STATE_SUBMITTED').data
  if (!state) throw invalidTask()
  const { message } = json.status
  return {
    id: json.id,
    ...(typeof json.contextId === 'string' && { contextId: json.contextId }),
    state,
    statusParts: partsIn(message),
    artifacts: Array.isArray(json.artifacts) ? json.artifacts.map(partsIn) : [],
  }
}

export function partsIn(json: unknown): Part[] {
  const parts = isRecord(json) ? json.parts : undefined
  return Array.isArray(parts) ? (parts.filter(isRecord) as Part[]) : []
}

function invalidTask(): Failure {
  return new Failure('upstream_invalid', 'The agent sent a task that cannot be read.')
}
