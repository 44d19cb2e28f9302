import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../schemas/json.ts'
import { isInterrupted, type Part } from '../../../schemas/task.ts'
import type { RemoteAnswer } from '../remote-agent.ts'
import { answerOf, contentOf, partsIn, type ReceivedTask, readTask } from './answer.ts'

type StreamEvent = Readonly<Record<string, unknown>>

const maxArtifacts = 1_000

/** Collects the state of a task from the events of a stream. */
export class TaskTracker {
  readonly #continues: boolean
  readonly #artifacts = new Map<string, Part[]>()
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
    return { ...this.#task, artifacts: [...this.#artifacts.values()] }
  }

  /** Takes one event; returns the answer if the event completes it. Throws Failure `upstream_invalid`. */
  take({ message, task: whole, statusUpdate, artifactUpdate }: StreamEvent): RemoteAnswer | undefined {
    if (message) return { output: contentOf(partsIn(message)) }
    const isFirst = this.#task === undefined
    if (isRecord(whole)) this.#replace(whole)
    const state = this.#task?.state ?? 'TASK_STATE_WORKING'
    if (whole && this.#continues && isFirst && isInterrupted(state)) return undefined
    if (isRecord(statusUpdate)) this.#task = this.#updated(statusUpdate, statusUpdate.status)
    if (isRecord(artifactUpdate)) {
      this.#task ??= this.#updated(artifactUpdate, { state: 'TASK_STATE_WORKING' })
      this.#addArtifact(artifactUpdate)
      return undefined
    }
    // The state decides whether there is an answer, so the artifacts are copied only for an answer.
    if (!this.#task || !answerOf(this.#task)) return undefined
    const { task } = this
    return task && answerOf(task)
  }

  /** A whole task replaces the state from earlier events. */
  #replace(whole: StreamEvent): void {
    this.#task = readTask(whole)
    this.#artifacts.clear()
    const artifacts = Array.isArray(whole.artifacts) ? whole.artifacts : []
    for (const artifact of artifacts) this.#addArtifact({ artifact })
  }

  #addArtifact({ artifact, append }: StreamEvent): void {
    const id = isRecord(artifact) ? String(artifact.artifactId ?? '') : ''
    const parts = (append === true ? this.#artifacts.get(id) : undefined) ?? []
    for (const part of partsIn(artifact)) parts.push(part)
    this.#artifacts.set(id, parts)
    if (this.#artifacts.size > maxArtifacts) {
      throw new Failure('upstream_invalid', `The agent sent more than ${maxArtifacts} artifacts.`)
    }
  }

  #updated({ taskId, contextId }: StreamEvent, status: unknown): ReceivedTask {
    return { ...readTask({ id: taskId, contextId, status }), artifacts: this.#task?.artifacts ?? [] }
  }
}

/** The update that a caller receives for event number `count`; undefined for events without content. */
export function updateOf({ statusUpdate, artifactUpdate }: StreamEvent, count: number) {
  if (isRecord(artifactUpdate)) {
    const parts = partsIn(artifactUpdate.artifact)
    return parts.length > 0 ? { part: contentOf(parts) as Json } : undefined
  }
  if (!isRecord(statusUpdate) || !isRecord(statusUpdate.status)) return undefined
  const text = partsIn(statusUpdate.status.message)
    .map((part) => part.text ?? '')
    .join('\n')
  return { progress: count, ...(text && { message: text }) }
}
