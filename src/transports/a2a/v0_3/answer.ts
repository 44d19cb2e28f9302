import { isRecord } from '../../../../schemas/json.ts'
import { type Artifact, isBusy, type Message, type Part, TaskState } from '../../../../schemas/task.ts'
import type { A2aTask, StreamEvent } from '../tasks/view.ts'

/** Writes the objects of 1.0 in the form of 0.3: each has a `kind`, and states and roles are in lower case. */
export function fromEvent(event: StreamEvent): object {
  if ('task' in event) return fromTask(event.task)
  if ('message' in event) return fromMessage(event.message)
  if ('statusUpdate' in event) {
    const { status, ...rest } = event.statusUpdate
    return {
      kind: 'status-update',
      ...rest,
      status: fromStatus(status),
      final: isKnown(status.state) && !isBusy(status.state),
    }
  }
  const { artifact, ...rest } = event.artifactUpdate
  return { kind: 'artifact-update', ...rest, artifact: fromArtifact(artifact) }
}

export function fromTask({ status, history, artifacts, ...rest }: A2aTask): object {
  return {
    kind: 'task',
    ...rest,
    status: fromStatus(status),
    ...(history && { history: history.map(fromMessage) }),
    ...(artifacts && { artifacts: artifacts.map(fromArtifact) }),
  }
}

/** A state of a later version, passed on as an agent sent it, is work. */
function isKnown(state: string): boolean {
  return TaskState.safeParse(state).success
}

function fromStatus({ state, message, timestamp }: A2aTask['status']): object {
  return { state: fromState(state), ...(message && { message: fromMessage(message) }), timestamp }
}

function fromState(state: TaskState): string {
  return state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-')
}

function fromMessage({ role, parts, ...rest }: Message): object {
  return {
    kind: 'message',
    ...rest,
    role: role === 'ROLE_USER' ? 'user' : 'agent',
    parts: parts.map(fromPart),
  }
}

function fromArtifact({ parts, ...rest }: Artifact): object {
  return { ...rest, parts: parts.map(fromPart) }
}

function fromPart({ text, data, raw, url, filename, mediaType, metadata }: Part): object {
  const more = metadata ? { metadata } : {}
  if (text !== undefined) return { kind: 'text', text, ...more }
  // The data of 0.3 must be an object.
  if (data !== undefined) return { kind: 'data', data: isRecord(data) ? data : { value: data }, ...more }
  const file = {
    ...(raw === undefined ? { uri: url } : { bytes: raw }),
    ...(filename && { name: filename }),
    ...(mediaType && { mimeType: mediaType }),
  }
  return { kind: 'file', file, ...more }
}
