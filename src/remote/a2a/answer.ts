import { type Code, codes, Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { isInterrupted, isTerminal, type Part, partsIn, TaskState } from '../../../schemas/task.ts'
import { failureOfProblem, quoted } from '../refusal.ts'
import type { RemoteAnswer } from '../remote-agent.ts'

/** A task as the agent sent it in ProtoJSON. */
export interface ReceivedTask {
  readonly id: string
  readonly contextId?: string
  readonly state: TaskState
  /** Parts of the task's status message. */
  readonly statusParts: readonly Part[]
  readonly artifacts: readonly (readonly Part[])[]
  /** The task as a Task object of A2A 1.0. */
  readonly whole: JsonObject
}

/** Events repeat these ids. */
const maxId = 1024
const maxFileBytes = 256 * 1024

/**
 * Parts as one value: a single data part is its value; text alone is `{text}`; one data part beside text is
 * `{text, data}`; anything else `{parts}`, with bytes as `{media_type, base64}`, or `{media_type, bytes}` with their
 * number alone if they are many, and links as `{media_type, url}`. Texts are joined by `separator`.
 */
export function contentOf(parts: readonly Part[], separator = '\n'): Json {
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const text = texts.join(separator)
  if (texts.length === parts.length) return { text }
  const data = parts.filter((part) => part.data !== undefined)
  const [value] = data
  if (data.length > 1 || data.length + texts.length < parts.length || value?.data === undefined) {
    return { parts: parts.map(partOf) }
  }
  return texts.length === 0 || isWordsOf(text, value.data) ? value.data : { text, data: value.data }
}

/** True for a text that repeats the data as JSON, for clients that read no data. */
function isWordsOf(text: string, data: Json): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(data)
  } catch {
    return false
  }
}

/** The parts of artifacts as one value: the chunks of one artifact belong together, two artifacts do not. */
function outputOf(artifacts: readonly (readonly Part[])[]): Json {
  const merged = artifacts.map(mergeChunks)
  return contentOf(merged.flat())
}

/** Texts that follow each other within one artifact are chunks of one text. */
function mergeChunks(parts: readonly Part[]): Part[] {
  const merged: Part[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (typeof part.text === 'string' && typeof last?.text === 'string') {
      merged[merged.length - 1] = { text: last.text + part.text }
    } else merged.push(part)
  }
  return merged
}

function partOf({ text, data, raw, url, filename, mediaType, metadata: _, ...later }: Part): Json {
  const about = { ...(mediaType && { media_type: mediaType }), ...(filename && { filename }) }
  if (text !== undefined) return { text }
  if (data !== undefined) return { data }
  if (url !== undefined) return { ...about, url }
  // A kind of a later version.
  if (raw === undefined) return { ...about, ...later }
  const bytes = Math.floor(raw.length * 0.75)
  return bytes <= maxFileBytes ? { ...about, base64: raw } : { ...about, bytes }
}

/** The answer of a task; undefined while the agent works on it. */
export function answerOf(task: ReceivedTask): RemoteAnswer | undefined {
  const { id, contextId, state, statusParts, artifacts, whole } = task
  const content = { protocol: 'a2a', event: { task: whole } } as const
  if (isInterrupted(state)) {
    return {
      task: { task_id: id, ...(contextId && { context_id: contextId }) },
      question: statusParts.length > 0 ? contentOf(statusParts) : null,
      status: state === 'TASK_STATE_AUTH_REQUIRED' ? 'auth_required' : 'input_required',
      content,
    }
  }
  if (!isTerminal(state)) return undefined
  if (state !== 'TASK_STATE_COMPLETED') {
    const refused = failureOf(state, statusParts)
    refused.content = content
    return { refused }
  }
  if (artifacts.some((parts) => parts.length > 0)) return { output: outputOf(artifacts), content }
  return { output: statusParts.length > 0 ? contentOf(statusParts) : null, content }
}

/** The reason why a task failed, from its status message. */
function failureOf(state: TaskState, statusParts: readonly Part[]): Failure {
  const endState = state.replace('TASK_STATE_', '').toLowerCase()
  const text = statusParts.map((part) => part.text ?? '').join('\n')
  const error = statusParts
    .map(({ data }) => (isRecord(data) && isRecord(data.error) ? data.error : undefined))
    .find(Boolean)
  const code = error && codeIn(error.details)
  const problem = code && failureOfProblem({ code, detail: text }, { who: 'The agent' })
  if (problem) return problem
  return new Failure('upstream_failed', quoted(text) ?? `The agent's task was ${endState}.`, {
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
  if (json.id.length > maxId || String(json.contextId ?? '').length > maxId) throw invalidTask()
  const stated = json.status.state ?? 'TASK_STATE_SUBMITTED'
  if (typeof stated !== 'string') throw invalidTask()
  // A state of a later version is work until a known one follows.
  const state = TaskState.safeParse(stated).data ?? 'TASK_STATE_WORKING'
  const { message } = json.status
  return {
    id: json.id,
    ...(typeof json.contextId === 'string' && { contextId: json.contextId }),
    state,
    statusParts: partsIn(message),
    artifacts: Array.isArray(json.artifacts) ? json.artifacts.map(partsIn) : [],
    whole: json as JsonObject,
  }
}

function invalidTask(): Failure {
  return new Failure('upstream_invalid', 'The agent sent a task that cannot be read.')
}
