import { createHmac, timingSafeEqual } from 'node:crypto'
import { Failure } from '../../schemas/failure.ts'
import type { RemoteTask } from './remote-agent.ts'

/** Whose task it is: nobody else's call goes on with it, and no other agent is told of it. */
export interface TaskHolder {
  readonly agent: string
  readonly caller: string
}

/**
 * How a caller is told of a task at another agent: its names there, with a seal by which only the same caller may go on
 * with it. Nothing is kept here, so every node can read it.
 */
export function sealTask(task: RemoteTask, holder: TaskHolder, secret: Uint8Array): string {
  const { task_id, context_id } = task
  const text = Buffer.from(JSON.stringify([task_id, context_id ?? null])).toString('base64url')
  return `${text}.${sealOf(text, holder, secret).toString('base64url')}`
}

/** Throws Failure `not_found` for a reference that was not given to this caller for this agent. */
export function openTask(reference: string, holder: TaskHolder, secret: Uint8Array): RemoteTask {
  const [text = '', seal = ''] = reference.split('.')
  const given = Buffer.from(seal, 'base64url')
  const made = sealOf(text, holder, secret)
  if (given.length !== made.length || !timingSafeEqual(given, made)) {
    throw new Failure('not_found', 'There is no such task of yours at this agent.', {
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
