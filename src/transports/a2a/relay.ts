import { isDeepStrictEqual } from 'node:util'
import type { Content } from '../../../schemas/content.ts'
import { contentMark } from '../../../schemas/content-mark.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import {
  type Artifact,
  isBusy,
  type Part,
  partsIn,
  type StoredTask,
  TaskState,
} from '../../../schemas/task.ts'
import type { TaskOrigin, Tell } from './work.ts'

/**
 * Passes on what an agent elsewhere said in A2A. Messages, artifacts and states stay as they are, except for the ids of
 * the task and its context, the time of a state, and the mark of third-party content in the metadata.
 */
export class Relay {
  readonly #agent: string
  readonly #tell: Tell
  readonly #resumed: StoredTask | undefined
  /** The parts of the artifacts so far, to find what is new in a whole task. */
  readonly #forwarded = new Map<string, Part[]>()
  /** The last status as JSON: a poll may find it unchanged. */
  #lastStatus = ''

  /** `resumed`: a task whose listeners know what it holds; the agent tells it all again. */
  constructor(agent: string, tell: Tell, resumed?: StoredTask) {
    this.#agent = agent
    this.#tell = tell
    this.#resumed = resumed
    for (const { artifactId, parts } of resumed?.artifacts ?? []) this.#forwarded.set(artifactId, [...parts])
  }

  /** Passes an event on while the agent works; its answer comes with the reply. */
  async update({ task, statusUpdate, artifactUpdate }: JsonObject): Promise<void> {
    if (isRecord(artifactUpdate)) return await this.#artifactUpdate(artifactUpdate as JsonObject)
    if (isRecord(statusUpdate) && isBusy(stateIn(statusUpdate as JsonObject))) {
      return await this.#status(statusUpdate as JsonObject)
    }
    if (!isRecord(task)) return
    await this.#artifacts(task as JsonObject)
    const { status } = task
    const isNew = JSON.stringify(status) !== this.#lastStatus && !this.#isKnown(status)
    if (isNew && isBusy(stateIn(task as JsonObject))) await this.#status(task as JsonObject)
  }

  /** Passes on what ends the work: a task, or a message, which is returned. */
  async finish(content: Content & { readonly protocol: 'a2a' }): Promise<JsonObject | undefined> {
    const { message, task } = content.event
    if (isRecord(message)) return marked(message as JsonObject)
    if (!isRecord(task)) return undefined
    await this.#artifacts(task as JsonObject)
    await this.#status(task as JsonObject)
    return undefined
  }

  /** True for the status that a resumed task had already. */
  #isKnown(status: Json | undefined): boolean {
    if (!this.#resumed || this.#lastStatus !== '' || !isRecord(status)) return false
    const { message } = status
    const messageId = isRecord(message) ? message.messageId : undefined
    return messageId === this.#resumed.message?.messageId && isBusy(stateIn({ status } as JsonObject))
  }

  async #status(holder: JsonObject): Promise<void> {
    const { status, artifacts: _, id: __, taskId: ___, contextId: ____, history: _____, ...fields } = holder
    const { metadata, ...others } = fields
    // The caller gets the whole task itself at first.
    const isBegin = this.#lastStatus === '' && isRecord(metadata) && holder.id !== undefined
    const state = stateIn(holder)
    const message = isRecord(status) && isRecord(status.message) ? (status.message as JsonObject) : undefined
    this.#lastStatus = JSON.stringify(status)
    const stated = isRecord(status) ? status.state : undefined
    await this.#tell({
      state,
      ...(typeof stated === 'string' && stated !== state && { shown_state: stated }),
      ...(message && { message: marked(message) }),
      event_fields: isBegin ? others : fields,
      ...(isBegin && { task_metadata: metadata as JsonObject }),
      origin: this.#originOf(holder),
    })
  }

  async #artifactUpdate(update: JsonObject): Promise<void> {
    const { artifact, append, lastChunk, taskId: _, contextId: __, ...event_fields } = update
    if (!isRecord(artifact)) return
    const id = String(artifact.artifactId ?? '')
    const parts = append === true ? (this.#forwarded.get(id) ?? []) : []
    for (const part of partsIn(artifact)) parts.push(part)
    this.#forwarded.set(id, parts)
    await this.#tell({
      artifact: artifactOf(artifact as JsonObject),
      append: append === true,
      last: lastChunk === true,
      event_fields,
      origin: this.#originOf(update),
    })
  }

  /** The artifacts of a whole task that are new or have changed. */
  async #artifacts(task: JsonObject): Promise<void> {
    const artifacts = Array.isArray(task.artifacts) ? (task.artifacts.filter(isRecord) as JsonObject[]) : []
    for (const artifact of artifacts) {
      const id = String(artifact.artifactId ?? '')
      const parts = partsIn(artifact)
      if (isDeepStrictEqual(this.#forwarded.get(id), parts)) continue
      this.#forwarded.set(id, parts)
      await this.#tell({ artifact: artifactOf(artifact), last: true, origin: this.#originOf(task) })
    }
  }

  #originOf({ id, taskId, contextId }: JsonObject): TaskOrigin {
    return {
      agent: this.#agent,
      task_id: String(id ?? taskId ?? ''),
      followed: true,
      ...(typeof contextId === 'string' && { context_id: contextId }),
    }
  }
}

/** The state of a task or a status event; a state that this gateway does not know is work. */
function stateIn({ status }: JsonObject): TaskState {
  const state = TaskState.safeParse(isRecord(status) ? status.state : undefined)
  return state.data ?? 'TASK_STATE_WORKING'
}

function artifactOf(artifact: JsonObject): Artifact {
  const { artifactId } = artifact
  return marked({ ...artifact, artifactId: String(artifactId ?? '') }) as unknown as Artifact
}

/** A message or an artifact with the mark of third-party content beside its own metadata. */
function marked<T extends JsonObject>(object: T): T {
  const { metadata } = object
  // ProtoJSON leaves out an empty list.
  return {
    ...object,
    parts: partsIn(object),
    metadata: { ...(isRecord(metadata) && metadata), ...contentMark(object.parts) },
  }
}
