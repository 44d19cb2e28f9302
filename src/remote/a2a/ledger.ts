import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../schemas/json.ts'
import { isInterrupted, type Part } from '../../../schemas/task.ts'
import type { RemoteAnswer } from '../remote-agent.ts'
import { answerOf, contentOf, partsIn, readTask, type SeenTask } from './answer.ts'

type Event = Readonly<Record<string, unknown>>

/** What a stream has told of a task so far. */
export interface Ledger {
  /** The task as it is known; undefined before it was named. */
  task(): SeenTask | undefined
  /** Takes one event; the answer where it is one. Throws Failure `upstream_invalid`. */
  take(event: Event): RemoteAnswer | undefined
}

const mostArtifacts = 1_000

/** A stream that goes on with a task may begin with how the task stood before, which is no answer. */
export function createLedger(continues: boolean): Ledger {
  const artifacts = new Map<string, Part[]>()
  let task: SeenTask | undefined

  function keep({ artifact, append }: Event): void {
    const name = isRecord(artifact) ? String(artifact.artifactId ?? '') : ''
    const known = append === true ? artifacts.get(name) : undefined
    const parts = known ?? []
    for (const part of partsIn(artifact)) parts.push(part)
    artifacts.set(name, parts)
    if (artifacts.size > mostArtifacts) {
      throw new Failure('upstream_invalid', `The agent answers more than ${mostArtifacts} artifacts.`)
    }
  }

  /** A whole task is all that there is of it so far. */
  function begin(whole: Event): void {
    task = readTask(whole)
    artifacts.clear()
    for (const artifact of Array.isArray(whole.artifacts) ? whole.artifacts : []) keep({ artifact })
  }

  function now(): SeenTask | undefined {
    if (!task || artifacts.size === 0) return task
    return { ...task, artifacts: [...artifacts.values()] }
  }

  return {
    task: now,
    take({ message, task: whole, statusUpdate, artifactUpdate }) {
      if (message) return { output: contentOf(partsIn(message)) }
      const isFirst = task === undefined
      if (isRecord(whole)) begin(whole)
      if (whole && continues && isFirst && isInterrupted(task?.state ?? 'TASK_STATE_WORKING'))
        return undefined
      if (isRecord(statusUpdate)) task = seen(statusUpdate, statusUpdate.status)
      if (isRecord(artifactUpdate)) {
        task ??= seen(artifactUpdate, { state: 'TASK_STATE_WORKING' })
        keep(artifactUpdate)
        return undefined
      }
      const current = task && answerOf(task)
      if (!current) return undefined
      const complete = now()
      return complete && answerOf(complete)
    },
  }

  function seen({ taskId, contextId }: Event, status: unknown): SeenTask {
    return { ...readTask({ id: taskId, contextId, status }), artifacts: task?.artifacts ?? [] }
  }
}

/** What a caller who listens is told of an event. */
export function updateOf({ statusUpdate, artifactUpdate }: Event, told: number) {
  if (isRecord(artifactUpdate)) {
    const parts = partsIn(artifactUpdate.artifact)
    return parts.length > 0 ? { part: contentOf(parts) as Json } : undefined
  }
  if (!isRecord(statusUpdate) || !isRecord(statusUpdate.status)) return undefined
  const text = partsIn(statusUpdate.status.message)
    .map((part) => part.text ?? '')
    .join('\n')
  return { progress: told, ...(text && { message: text }) }
}
