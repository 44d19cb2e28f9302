import { randomUUID } from 'node:crypto'
import { Failure } from '../../../../schemas/failure.ts'
import type { Artifact, StoredTask } from '../../../../schemas/task.ts'
import type { TaskUpdate } from '../work.ts'
import { artifactEvent, fromAgent, type StreamEvent, statusEvent } from './view.ts'

/** Parts that a task's artifacts hold, and characters of their JSON. */
const mostParts = 10_000
const mostCharacters = 2 * 1024 * 1024

export interface Changed {
  readonly task: StoredTask
  readonly event: StreamEvent
}

/** The task after what was told, at this time (ISO 8601), and the event that says so. Throws Failure `too_large`. */
export function change(task: StoredTask, told: TaskUpdate, at: string): Changed {
  if ('state' in told) {
    const { state, parts } = told
    const message = parts ? fromAgent(task.id, task.context_id, randomUUID(), parts) : null
    const next = { ...task, state, message, updated_at: at }
    return { task: next, event: statusEvent(next) }
  }
  const { artifact, append = false, last = false } = told
  const next = { ...task, artifacts: withArtifact(task.artifacts, artifact, append) }
  return { task: next, event: artifactEvent(task, artifact, append, last) }
}

function withArtifact(artifacts: readonly Artifact[], artifact: Artifact, append: boolean): Artifact[] {
  const index = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId)
  const known = artifacts[index]
  if (!known) return [...artifacts, artifact]
  const parts = append ? [...known.parts, ...artifact.parts] : artifact.parts
  return artifacts.with(index, { ...known, ...artifact, parts })
}

/** Counts what is told of artifacts, and throws Failure `too_large` where it is too much to keep. */
export function createGauge(): (told: TaskUpdate) => void {
  let parts = 0
  let characters = 0
  return (told) => {
    if (!('artifact' in told)) return
    parts += told.artifact.parts.length
    characters += JSON.stringify(told.artifact.parts).length
    if (parts <= mostParts && characters <= mostCharacters) return
    throw new Failure(
      'too_large',
      `A task keeps ${mostParts} parts and ${mostCharacters} characters of output.`,
      {
        hint: 'Ask for less at once: a smaller limit, or by cursor.',
      },
    )
  }
}

/** What happened between two readings of one task, in order. */
export function differences(before: StoredTask, after: StoredTask): StreamEvent[] {
  const artifacts = after.artifacts.filter((one) => {
    const known = before.artifacts.find(({ artifactId }) => artifactId === one.artifactId)
    return known?.parts.length !== one.parts.length
  })
  const events = artifacts.map((artifact) => artifactEvent(after, artifact, false, true))
  const same = before.state === after.state && before.updated_at === after.updated_at
  return same ? events : [...events, statusEvent(after)]
}
