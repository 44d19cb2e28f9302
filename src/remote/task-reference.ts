import { createHmac, timingSafeEqual } from 'node:crypto'
import { Failure } from '../../schemas/failure.ts'
import type { RemoteTask } from './remote-agent.ts'

/** The agent and the caller of a task: only this caller can continue it, and only at this agent. */
interface TaskHolder {
  readonly agent: string
  readonly caller: string
}

/**
 * A reference to a task at a remote agent: the agent's ids and an HMAC, so that only the same caller can use the
 * reference. The gateway stores nothing, so every node can read the reference.
 */
export function sealTask(task: RemoteTask, holder: TaskHolder, secret: Uint8Array): string {
  const { task_id, context_id } = task
  const text = Buffer.from(JSON.stringify([task_id, context_id ?? null])).toString('base64url')
  return `${text}.${sealOf(text, holder, secret).toString('base64url')}`
}

/** Throws Failure `not_found` for a reference that was not given to this caller for this agent. */
export function openTask(reference: string, holder: TaskHolder, secret: Uint8Array): RemoteTask {
  const [text = '', seal = ''] = reference.split('.')
  const received = Buffer.from(seal, 'base64url')
  const expected = sealOf(text, holder, secret)
  if (received.length !== expected.length || !timingSafeEqual(received, expected)) {
    throw new Failure('not_found', 'You have no such task at this agent.', {
      errors: [{ pointer: '/task_id', detail: 'Send the task_id that came with input_required.' }],
    })
  }
  const [task_id, context_id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [
    string,
    string | null,
  ]
  return { task_id, ...(context_id !== null && { context_id }) }
}

function sealOf(text: string, { agent, caller }: TaskHolder, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['task', agent, caller, text]))
    .digest()
}
