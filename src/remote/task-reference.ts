import { createHmac, timingSafeEqual } from 'node:crypto'
import { Failure } from '../../schemas/failure.ts'
import { decodeCursor, encodeCursor } from '../common/cursor.ts'
import type { RemoteTask } from './remote-agent.ts'

/** The agent and the caller of a task: only this caller can continue it, and only at this agent. */
export interface TaskHolder {
  readonly agent: string
  readonly caller: string
}

/**
 * A reference to a task at a remote agent: the agent's ids and an HMAC, so that only the same caller can use the
 * reference. The gateway stores nothing, so every node can read the reference.
 */
export function sealTask(task: RemoteTask, holder: TaskHolder, secret: Uint8Array): string {
  const { task_id, context_id } = task
  const text = encodeCursor([task_id, context_id ?? null])
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
  const [task_id, context_id] = decodeCursor(text) as [string, string | null]
  return { task_id, ...(context_id !== null && { context_id }) }
}

/** A conversation: the id that its caller uses, and the one that its agent uses. */
export interface RemoteContext {
  readonly shown: string
  readonly sent: string
}

/**
 * The conversation that a caller names. An id that came from the agent is the agent's own; for any other id the agent
 * gets an HMAC of it, so that two callers with one id never share a conversation.
 */
export function contextOf(shown: string, holder: TaskHolder, secret: Uint8Array): RemoteContext {
  const [text = '', seal = ''] = shown.split('.')
  const received = Buffer.from(seal, 'base64url')
  const expected = contextSeal(text, holder, secret)
  const isOurs = received.length === expected.length && timingSafeEqual(received, expected)
  // The whole id: a caller's own may have dots too.
  const sent = isOurs
    ? Buffer.from(text, 'base64url').toString()
    : contextSeal(shown, holder, secret).toString('hex')
  return { shown, sent }
}

/** The id under which a caller gets to know a conversation that the agent began. */
export function showContext(sent: string, holder: TaskHolder, secret: Uint8Array): string {
  const text = Buffer.from(sent).toString('base64url')
  return `${text}.${contextSeal(text, holder, secret).toString('base64url')}`
}

/** Half of the HMAC, so that the id of a conversation stays short. */
function contextSeal(text: string, holder: TaskHolder, secret: Uint8Array): Buffer {
  return hmacOf('context', text, holder, secret).subarray(0, 16)
}

function sealOf(text: string, holder: TaskHolder, secret: Uint8Array): Buffer {
  return hmacOf('task', text, holder, secret)
}

function hmacOf(kind: string, text: string, { agent, caller }: TaskHolder, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret)
    .update(JSON.stringify([kind, agent, caller, text]))
    .digest()
}
