import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../../schemas/json.ts'
import type { Artifact, Message, StoredTask, TaskState } from '../../../../schemas/task.ts'

interface Status {
  readonly state: TaskState
  readonly message?: Message
  readonly timestamp: string
}

/** Section 4.1.1. */
export interface A2aTask {
  readonly id: string
  readonly contextId: string
  readonly status: Status
  readonly history?: readonly Message[]
  readonly artifacts?: readonly Artifact[]
  readonly metadata?: JsonObject
}

/** Section 3.2.3: one event of a stream is one of these. */
export type StreamEvent =
  | { readonly task: A2aTask }
  | { readonly message: Message }
  | {
      readonly statusUpdate: {
        readonly taskId: string
        readonly contextId: string
        readonly status: Status
        readonly metadata?: JsonObject
      }
    }
  | {
      readonly artifactUpdate: {
        readonly taskId: string
        readonly contextId: string
        readonly artifact: Artifact
        readonly append: boolean
        readonly lastChunk: boolean
        readonly metadata?: JsonObject
      }
    }

interface Shown {
  /** Maximum number of the latest messages; absent: all messages. */
  readonly historyLength?: number | null | undefined
  readonly artifacts?: boolean
}

/** A task in the form for its caller (section 3.2.4 for its history). */
export function showTask(stored: StoredTask, { historyLength, artifacts = true }: Shown = {}): A2aTask {
  const { id, context_id, history, metadata } = stored
  const latest = historyLength == null ? history : historyLength === 0 ? [] : history.slice(-historyLength)
  return {
    id,
    contextId: context_id,
    status: showStatus(stored),
    ...(latest.length > 0 && { history: latest }),
    ...(artifacts && { artifacts: stored.artifacts }),
    ...(metadata && { metadata }),
  }
}

function showStatus({ state, shown_state, message, updated_at }: StoredTask): Status {
  const shown = (shown_state ?? state) as TaskState
  return { state: shown, ...(message && { message }), timestamp: updated_at }
}

/** A new message of the agent of a task. */
export function fromAgent(
  { id: taskId, context_id: contextId }: Pick<StoredTask, 'id' | 'context_id'>,
  parts: Message['parts'],
  metadata?: Message['metadata'],
): Message {
  const messageId = randomUUID()
  return { messageId, contextId, taskId, role: 'ROLE_AGENT', parts, ...(metadata && { metadata }) }
}

export function statusEvent(stored: StoredTask, fields: JsonObject = {}): StreamEvent {
  const { id, context_id } = stored
  const status = showStatus(stored)
  return { statusUpdate: { ...fields, taskId: id, contextId: context_id, status } }
}

export function artifactEvent(
  { id, context_id }: StoredTask,
  artifact: Artifact,
  append: boolean,
  lastChunk: boolean,
  fields: JsonObject = {},
): StreamEvent {
  return { artifactUpdate: { ...fields, taskId: id, contextId: context_id, artifact, append, lastChunk } }
}
