import { randomBytes, randomUUID } from 'node:crypto'
import { Failure } from '../../../../schemas/failure.ts'
import type { Message, Part, StoredTask } from '../../../../schemas/task.ts'
import { principalKey } from '../../../common/principal-key.ts'
import type { Call } from '../../../router/call.ts'
import type { Job, WorkUpdate } from '../work.ts'
import { metadataWith, upstreamOf } from './change.ts'
import type { PushConfig } from './push.ts'

/** Work on a message, which creates a task or continues one. */
export interface NewWork {
  readonly run: NonNullable<Job['run']>
  readonly call: Call
  /** Package name of the agent that works. */
  readonly agent?: string | undefined
  readonly message: Message
  readonly context_id: string
  /** The interrupted task that the message continues. */
  readonly task?: StoredTask | undefined
  /** Where changes of the task are posted. */
  readonly push?: PushConfig | undefined
  /** An error as the parts of a message. */
  readonly explain: (thrown: unknown) => readonly Part[]
}

const maxMessages = 100

/** The task that the first update of the work creates, or continues. */
export function submittedTask(
  { task: before, agent, message, context_id: stated, call }: NewWork,
  { origin, task_metadata }: WorkUpdate,
  times: Pick<StoredTask, 'updated_at' | 'expires_at' | 'alive_until'>,
): StoredTask {
  const id = before?.id ?? randomBytes(16).toString('hex')
  const { principal, client } = call
  const credential = principal?.credential
  const owner = principal && principalKey(principal)
  const context_id = before?.context_id ?? origin?.context_id ?? stated
  const { credential: _, ...base } = before ?? {
    id,
    owner,
    counted_by: owner ?? (client === 'local' ? client : client.address),
    agent: agent ?? null,
    context_id,
    artifacts: [],
    credential,
  }
  return {
    ...base,
    ...(credential && { credential }),
    holder: randomUUID(),
    ...upstreamOf(origin),
    ...metadataWith(before?.metadata, task_metadata),
    state: 'TASK_STATE_SUBMITTED',
    message: null,
    history: [
      ...(before?.history ?? []),
      // The question that the message answers.
      ...(before?.message ? [before.message] : []),
      { ...message, contextId: context_id, taskId: id },
    ].slice(-maxMessages),
    ...times,
  }
}

/** Why no task was added: its caller has too many, or all callers together. */
export function queueFull(result: 'busy' | 'full'): Failure {
  const hint = 'Wait for a task to end, or cancel it; a message without returnImmediately makes no task.'
  return result === 'busy'
    ? new Failure('rate_limited', 'You have too many unfinished tasks.', { hint, retry_after_s: 5 })
    : new Failure('unavailable', 'The gateway has no capacity for another task.', { hint, retry_after_s: 30 })
}
