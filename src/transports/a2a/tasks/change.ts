import { randomUUID } from 'node:crypto'
import { Failure } from '../../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../../schemas/json.ts'
import type { Artifact, Message, StoredTask } from '../../../../schemas/task.ts'
import type { TaskOrigin, WorkUpdate } from '../work.ts'
import { artifactEvent, fromAgent, type StreamEvent, statusEvent } from './view.ts'

/** Limits of a task's artifacts: their number of parts, and the characters of the parts as JSON. */
const maxParts = 10_000
const maxCharacters = 2 * 1024 * 1024
/** Characters of the metadata of a task as JSON; what would exceed them is in its event alone. */
const maxMetadata = 64 * 1024

interface UpdatedTask {
  readonly task: StoredTask
  readonly event: StreamEvent
}

/** The task after an update at this time (ISO 8601), and the event that reports the update. */
export function update(task: StoredTask, change: WorkUpdate, at: string): UpdatedTask {
  const { event_fields } = change
  if ('state' in change) {
    const { shown_state: _, ...before } = task
    const { state, shown_state, origin } = change
    const shown = shown_state === undefined ? {} : { shown_state }
    // The reference for the next message: an agent of another protocol gives it only with its question.
    const next = {
      ...before,
      ...upstreamOf(origin),
      ...shown,
      ...metadataWith(task.metadata, event_fields?.metadata ?? change.task_metadata),
      state,
      message: messageOf(task, change),
      updated_at: at,
    }
    return { task: next, event: statusEvent(next, event_fields) }
  }
  const { artifact, append = false, last = false } = change
  const next = { ...task, artifacts: withArtifact(task.artifacts, artifact, append) }
  return { task: next, event: artifactEvent(task, artifact, append, last, event_fields) }
}

export function upstreamOf(origin: TaskOrigin | undefined): Pick<StoredTask, 'upstream'> {
  if (!origin) return {}
  const { context_id: _, ...upstream } = origin
  return { upstream }
}

/** The metadata of a task with what an event states, as the SDKs of A2A keep it. */
export function metadataWith(
  metadata: JsonObject | undefined,
  stated: unknown,
): Pick<StoredTask, 'metadata'> {
  if (!isRecord(stated)) return {}
  const merged = { ...metadata, ...stated } as JsonObject
  return JSON.stringify(merged).length > maxMetadata ? {} : { metadata: merged }
}

/** The message of a state, in the task and the context of the caller. */
function messageOf(task: StoredTask, change: StateChange): Message | null {
  if ('message' in change) {
    const { messageId = randomUUID(), ...message } = change.message
    return { ...message, messageId, taskId: task.id, contextId: task.context_id } as unknown as Message
  }
  const { parts, metadata } = change
  return parts ? fromAgent(task, parts, metadata) : null
}

type StateChange = Extract<WorkUpdate, { readonly state: unknown }>

/** True for a state that the listeners know already. */
export function saysNothing({ state, shown_state, message }: StoredTask, change: WorkUpdate): boolean {
  if (!('state' in change) || 'message' in change || change.parts) return false
  if (Object.keys(change.event_fields ?? {}).length > 0 || change.shown_state !== shown_state) return false
  return change.state === state && message === null
}

function withArtifact(artifacts: readonly Artifact[], artifact: Artifact, append: boolean): Artifact[] {
  const index = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId)
  const existing = artifacts[index]
  if (!existing) return [...artifacts, artifact]
  if (!append) return artifacts.with(index, { ...existing, ...artifact })
  const parts = [...existing.parts, ...artifact.parts]
  // One chunk that hides characters marks the whole.
  return artifacts.with(index, {
    ...existing,
    ...artifact,
    parts,
    ...metadataWith(existing.metadata, artifact.metadata),
  })
}

interface Size {
  readonly parts: number
  readonly characters: number
}

/**
 * Adds up the artifacts of a task, with those that it has already. The function throws Failure `too_large` if they
 * exceed the limits.
 */
export function createMeter(present: readonly Artifact[]): (change: WorkUpdate) => void {
  const sizes = new Map<string, Size>(present.map((artifact) => [artifact.artifactId, sizeOf(artifact)]))
  let parts = [...sizes.values()].reduce((sum, size) => sum + size.parts, 0)
  let characters = [...sizes.values()].reduce((sum, size) => sum + size.characters, 0)
  return (change) => {
    if (!('artifact' in change)) return
    const { artifact, append } = change
    const before = sizes.get(artifact.artifactId) ?? { parts: 0, characters: 0 }
    const base = append ? before : { parts: 0, characters: 0 }
    const added = sizeOf(artifact, append)
    const now = { parts: base.parts + added.parts, characters: base.characters + added.characters }
    sizes.set(artifact.artifactId, now)
    parts += now.parts - before.parts
    characters += now.characters - before.characters
    if (parts <= maxParts && characters <= maxCharacters) return
    throw new Failure(
      'too_large',
      `A task stores at most ${maxParts} parts and ${maxCharacters} characters of output.`,
      {
        hint: 'Request less at once: use a smaller limit, or a cursor.',
      },
    )
  }
}

function sizeOf(artifact: Artifact, append = false): Size {
  return {
    parts: Math.max(1, artifact.parts.length),
    characters: JSON.stringify(append ? artifact.parts : artifact).length,
  }
}

/** The events between two reads of one task, in order. */
export function differences(before: StoredTask, after: StoredTask): StreamEvent[] {
  const artifacts = after.artifacts.filter((artifact) => {
    const earlier = before.artifacts.find(({ artifactId }) => artifactId === artifact.artifactId)
    return earlier?.parts.length !== artifact.parts.length
  })
  const events = artifacts.map((artifact) => artifactEvent(after, artifact, false, true))
  const same = before.state === after.state && before.updated_at === after.updated_at
  return same ? events : [...events, statusEvent(after)]
}
