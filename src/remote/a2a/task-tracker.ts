import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { isInterrupted, type Part, partsIn } from '../../../schemas/task.ts'
import type { RemoteAnswer } from '../remote-agent.ts'
import { answerOf, contentOf, type ReceivedTask, readTask } from './answer.ts'

const maxArtifacts = 1_000

/** An artifact so far: its fields, and the parts of all its chunks. */
interface CollectedArtifact {
  readonly fields: JsonObject
  readonly parts: (Part & JsonObject)[]
}

/** Collects the state of a task from the events of a stream. */
export class TaskTracker {
  readonly #continues: boolean
  readonly #artifacts = new Map<string, CollectedArtifact>()
  #task: ReceivedTask | undefined

  /**
   * `continues`: the stream continues a task. It may then begin with the earlier state of the task, which is not an
   * answer.
   */
  constructor(continues: boolean) {
    this.#continues = continues
  }

  /** The task so far; undefined until the agent names it. */
  get task(): ReceivedTask | undefined {
    if (!this.#task || this.#artifacts.size === 0) return this.#task
    const collected = [...this.#artifacts.values()]
    const artifacts = collected.map(({ fields, parts }) => ({ ...fields, parts }))
    return {
      ...this.#task,
      artifacts: collected.map(({ parts }) => parts),
      whole: { ...this.#task.whole, artifacts },
    }
  }

  /** Takes one event; returns the answer if the event completes it. Throws Failure `upstream_invalid`. */
  take(event: JsonObject): RemoteAnswer | undefined {
    const { message, task: whole, statusUpdate, artifactUpdate } = event
    if (isRecord(message)) return { output: contentOf(partsIn(message)), content: { protocol: 'a2a', event } }
    const isFirst = this.#task === undefined
    if (isRecord(whole)) this.#replace(whole as JsonObject)
    const state = this.#task?.state ?? 'TASK_STATE_WORKING'
    if (whole && this.#continues && isFirst && isInterrupted(state)) return undefined
    if (isRecord(statusUpdate)) this.#task = this.#updated(statusUpdate as JsonObject, statusUpdate.status)
    if (isRecord(artifactUpdate)) {
      this.#task ??= this.#updated(artifactUpdate as JsonObject, { state: 'TASK_STATE_WORKING' })
      this.#addArtifact(artifactUpdate as JsonObject)
      return undefined
    }
    // The state decides whether there is an answer, so the artifacts are copied only for an answer.
    if (!this.#task || !answerOf(this.#task)) return undefined
    const { task } = this
    return task && answerOf(task)
  }

  /** A whole task replaces the state from earlier events. */
  #replace(whole: JsonObject): void {
    this.#task = readTask(whole)
    this.#artifacts.clear()
    const artifacts = Array.isArray(whole.artifacts) ? whole.artifacts : []
    for (const artifact of artifacts) this.#addArtifact({ artifact })
  }

  #addArtifact({ artifact, append }: JsonObject): void {
    const { parts: _, ...fields } = (isRecord(artifact) ? artifact : {}) as JsonObject
    const id = String(fields.artifactId ?? '')
    const earlier = append === true ? this.#artifacts.get(id) : undefined
    const parts = earlier?.parts ?? []
    for (const part of partsIn(artifact)) parts.push(part as Part & JsonObject)
    this.#artifacts.set(id, { fields: { ...earlier?.fields, ...fields }, parts })
    if (this.#artifacts.size > maxArtifacts) {
      throw new Failure('upstream_invalid', `The agent sent more than ${maxArtifacts} artifacts.`)
    }
  }

  #updated({ taskId, contextId, metadata }: JsonObject, status: unknown): ReceivedTask {
    const { whole = {}, artifacts = [] } = this.#task ?? {}
    // The metadata of an earlier event is not that of this one.
    const { metadata: _, ...rest } = whole as JsonObject
    const updated = { ...rest, id: taskId, contextId, status, ...(isRecord(metadata) && { metadata }) }
    return { ...readTask(updated), artifacts }
  }
}

/** The update that a caller without A2A receives for event number `count`. */
export function updateOf({ task, statusUpdate = task, artifactUpdate }: JsonObject, count: number) {
  if (isRecord(artifactUpdate)) {
    const parts = partsIn(artifactUpdate.artifact)
    return { part: contentOf(parts, '') }
  }
  const status = isRecord(statusUpdate) ? statusUpdate.status : undefined
  const message = isRecord(status) ? status.message : undefined
  const text = partsIn(message)
    .map((part) => part.text ?? '')
    .join('\n')
  return { progress: count, ...(text && { message: text }) }
}
