import { type Code, codes, Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../schemas/json.ts'
import { isInterrupted, isTerminal, type Part, TaskState } from '../../../schemas/task.ts'
import { failureOfProblem, textOf } from '../refusal.ts'
import type { RemoteAnswer } from '../remote-agent.ts'

/** A task as it came, as ProtoJSON has it. */
export interface SeenTask {
  readonly id: string
  readonly contextId?: string
  readonly state: TaskState
  readonly said: readonly Part[]
  readonly artifacts: readonly (readonly Part[])[]
}

const largestBytes = 256 * 1024

/**
 * Parts as one value: a single data part is its value; text alone is `{text}`; anything else `{text?, parts}` with
 * bytes as `{media_type, base64}` and links as `{media_type, url}`. Throws Failure `upstream_invalid`.
 */
export function contentOf(parts: readonly Part[]): Json {
  const [only] = parts
  if (parts.length === 1 && only?.data !== undefined) return only.data
  const data = parts.filter((part) => part.data !== undefined)
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  // What an agent says in words beside its data is for whoever reads no data.
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
  if (raw !== undefined && raw.length * 0.75 <= largestBytes) return { ...about, base64: raw }
  throw new Failure('upstream_invalid', `The agent answers a file of more than ${largestBytes} bytes.`)
}

/** What has become of a task; undefined while somebody is at work on it. */
export function answerOf(task: SeenTask): RemoteAnswer | undefined {
  const { id, contextId, state, said, artifacts } = task
  if (isInterrupted(state)) {
    const waits = { task_id: id, ...(contextId && { context_id: contextId }) }
    return { waits, question: said.length > 0 ? contentOf(said) : null }
  }
  if (!isTerminal(state)) return undefined
  if (state !== 'TASK_STATE_COMPLETED') return { refused: failureOf(state, said) }
  const parts = artifacts.flat()
  return { output: parts.length > 0 ? contentOf(parts) : said.length > 0 ? contentOf(said) : null }
}

/** Why a task ended badly, as far as its last message tells. */
function failureOf(state: TaskState, said: readonly Part[]): Failure {
  const ending = state.replace('TASK_STATE_', '').toLowerCase()
  const text = textOf(said.map((part) => part.text ?? '').join('\n'))
  const error = said
    .map(({ data }) => (isRecord(data) && isRecord(data.error) ? data.error : undefined))
    .find(Boolean)
  const code = error && codeIn(error.details)
  const problem = code && failureOfProblem({ code, detail: text }, { who: 'The agent' })
  if (problem) return problem
  return new Failure('upstream_failed', text ?? `The agent's task was ${ending}.`, {
    upstream: { code: ending },
  })
}

/** Our own code in the ErrorInfo of an error (google.rpc), as gateways of ours write it. */
function codeIn(details: unknown): Code | undefined {
  const reasons = Array.isArray(details) ? details.filter(isRecord).map(({ reason }) => reason) : []
  return reasons.map(codeOfReason).find((code) => code !== undefined)
}

export function codeOfReason(reason: unknown): Code | undefined {
  const code = typeof reason === 'string' ? reason.toLowerCase() : ''
  return Object.hasOwn(codes, code) ? (code as Code) : undefined
}

/** A task in ProtoJSON, whatever else it may be. Throws Failure `upstream_invalid`. */
export function readTask(json: unknown): SeenTask {
  if (!isRecord(json) || typeof json.id !== 'string' || !isRecord(json.status)) throw noTask()
  // By HTTP+JSON it becomes part of a path.
  if (json.id === '' || json.id === '.' || json.id === '..') throw noTask()
  const state = TaskState.safeParse(json.status.state ?? 'TASK_STATE_SUBMITTED').data
  if (!state) throw noTask()
  const { message } = json.status
  return {
    id: json.id,
    ...(typeof json.contextId === 'string' && { contextId: json.contextId }),
    state,
    said: partsIn(message),
    artifacts: Array.isArray(json.artifacts) ? json.artifacts.map(partsIn) : [],
  }
}

export function partsIn(json: unknown): Part[] {
  const parts = isRecord(json) ? json.parts : undefined
  return Array.isArray(parts) ? (parts.filter(isRecord) as Part[]) : []
}

function noTask(): Failure {
  return new Failure('upstream_invalid', 'The agent answers with a task that cannot be read.')
}
