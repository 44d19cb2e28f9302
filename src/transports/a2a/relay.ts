import type { Content } from '../../../schemas/content.ts'
import { contentMark } from '../../../schemas/content-mark.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { type Artifact, isBusy, TaskState } from '../../../schemas/task.ts'
import type { TaskOrigin, Tell } from './work.ts'

/**
 * Passes on what an agent elsewhere said in A2A. Messages, artifacts and states stay as they are, except for the ids of
 * the task and its context, the time of a state, and the mark of third-party content in the metadata.
 */
export class Relay {
  readonly #agent: string
  readonly #tell: Tell
  /** The artifacts so far, as JSON of their parts, to find what is new in a whole task. */
  readonly #forwarded = new Map<string, string>()
  /** The last status as JSON: a poll may find it unchanged. */
  #lastStatus = ''

  constructor(agent: string, tell: Tell) {
    this.#agent = agent
    this.#tell = tell
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
    const isNew = JSON.stringify(status) !== this.#lastStatus
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

  async #status(holder: JsonObject): Promise<void> {
    const { status, metadata } = holder
    const state = stateIn(holder)
    const message = isRecord(status) && isRecord(status.message) ? (status.message as JsonObject) : undefined
    this.#lastStatus = JSON.stringify(status)
    await this.#tell({
      state,
      ...(message && { message: marked(message) }),
      ...(isRecord(metadata) && { event_metadata: metadata as JsonObject }),
      origin: this.#originOf(holder),
    })
  }

  async #artifactUpdate(update: JsonObject): Promise<void> {
    const { artifact, append = false, lastChunk = false, metadata } = update
    if (!isRecord(artifact)) return
    const { artifactId = '', parts = [] } = artifact as { artifactId?: string; parts?: readonly unknown[] }
    const earlier: readonly unknown[] = append ? JSON.parse(this.#forwarded.get(artifactId) ?? '[]') : []
    this.#forwarded.set(artifactId, JSON.stringify([...earlier, ...parts]))
    await this.#tell({
      artifact: artifactOf(artifact as JsonObject),
      append: append === true,
      last: lastChunk === true,
      ...(isRecord(metadata) && { event_metadata: metadata as JsonObject }),
      origin: this.#originOf(update),
    })
  }

  /** The artifacts of a whole task that are new or have changed. */
  async #artifacts(task: JsonObject): Promise<void> {
    const artifacts = Array.isArray(task.artifacts) ? (task.artifacts as readonly JsonObject[]) : []
    for (const artifact of artifacts) {
      const { artifactId = '', parts = [] } = artifact
      const now = JSON.stringify(parts)
      if (this.#forwarded.get(String(artifactId)) === now) continue
      this.#forwarded.set(String(artifactId), now)
      await this.#tell({ artifact: artifactOf(artifact), last: true, origin: this.#originOf(task) })
    }
  }

  #originOf({ id, taskId, contextId }: JsonObject): TaskOrigin {
    return {
      agent: this.#agent,
      task_id: String(id ?? taskId ?? ''),
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
  return marked(artifact) as unknown as Artifact
}

/** A message or an artifact with the mark of third-party content beside its own metadata. */
function marked<T extends JsonObject>(object: T): T {
  const { metadata } = object
  return { ...object, metadata: { ...(isRecord(metadata) && metadata), ...contentMark(object.parts) } }
}
