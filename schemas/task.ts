import { z } from 'zod'
import { Failure } from './failure.ts'
import { isRecord, type Json, type JsonObject } from './json.ts'
import type { UsedCredential } from './scope.ts'

/** The states of an A2A 1.0 task (section 4.1.3), as ProtoJSON writes them. */
const taskStates = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const
export const TaskState = z.enum(taskStates)
export type TaskState = z.infer<typeof TaskState>

/** States in which the agent works. */
export const busyStates = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const satisfies TaskState[]
/** States in which the agent waits for the caller. */
export const interruptedStates = [
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
] as const satisfies TaskState[]

export function isBusy(state: TaskState): boolean {
  return busyStates.some((busy) => busy === state)
}

export function isInterrupted(state: TaskState): boolean {
  return interruptedStates.some((interrupted) => interrupted === state)
}

/** Final states. */
export function isTerminal(state: TaskState): boolean {
  return !isBusy(state) && !isInterrupted(state)
}

/** The output of an action of another agent that needs more input. */
export const InputRequired = z.object({
  status: z
    .enum(['input_required', 'auth_required'])
    .describe('auth_required: the agent waits until the caller has signed in elsewhere.'),
  agent: z.string().describe('Package name of the agent that asks.'),
  task_id: z.string().describe('Send it with continue_task to the same agent.'),
  question: z.json().describe('The agent’s question; null if it gives none.'),
})
export type InputRequired = z.infer<typeof InputRequired>

/** The request for more input in an output; undefined for an ordinary output. */
export function inputRequiredIn(output: unknown): InputRequired | undefined {
  if (!isRecord(output) || typeof output.status !== 'string' || !output.status.endsWith('_required'))
    return undefined
  return InputRequired.safeParse(output).data
}

/** True for several questions of an MCP server, by their keys. */
export function areSeveral(question: Json): boolean {
  if (!isRecord(question)) return false
  const questions = Object.values(question)
  return questions.length > 1 && questions.every((each) => isRecord(each) && typeof each.text === 'string')
}

/** Section 4.1.6: one of `text`, `data`, `raw` (base64) and `url`. */
export interface Part {
  readonly text?: string
  readonly data?: Json
  readonly raw?: string
  readonly url?: string
  readonly filename?: string
  readonly mediaType?: string
  readonly metadata?: JsonObject
}

/** The parts of a message or an artifact that was received. */
export function partsIn(holder: unknown): Part[] {
  const parts = isRecord(holder) ? holder.parts : undefined
  return Array.isArray(parts) ? (parts.filter(isRecord) as Part[]) : []
}

/** Section 4.1.4. */
export interface Message {
  readonly messageId: string
  readonly contextId?: string
  readonly taskId?: string
  readonly role: 'ROLE_USER' | 'ROLE_AGENT'
  readonly parts: readonly Part[]
  readonly metadata?: JsonObject
  readonly extensions?: readonly string[]
  readonly referenceTaskIds?: readonly string[]
}

/** Section 4.1.7. */
export interface Artifact {
  readonly artifactId: string
  readonly name?: string
  readonly description?: string
  readonly parts: readonly Part[]
  readonly metadata?: JsonObject
}

/** A task as stored. Times are ISO 8601 in UTC. */
export interface StoredTask {
  readonly id: string
  /** Principal key; null for an anonymous task. */
  readonly owner: string | null
  /** The key that limits count by: its owner, or a network address. */
  readonly counted_by: string
  /** Package name of the agent that the task was given to; null for a task from before it was stored. */
  readonly agent: string | null
  readonly context_id: string
  readonly state: TaskState
  /** The name of a state that this gateway does not know, as the agent sent it; its task counts as working. */
  readonly shown_state?: string
  /** Time at which the task entered its state. */
  readonly updated_at: string
  /** The time when the task is deleted. */
  readonly expires_at: string
  /**
   * Names the run of a process that writes this task: each process that begins, continues, takes over or cancels the
   * task writes a name of its own, and the one before can write it no more. Empty: no process does.
   */
  readonly holder: string
  /**
   * Lease of the holder, which works on the task, or posts its end to its addresses, and renews the lease in time.
   * Another process takes over a task whose lease has expired. Null: there is nothing to do.
   */
  readonly alive_until: string | null
  /** The credential of the call that the work is done for; absent without one. */
  readonly credential?: UsedCredential
  /** The message of the task's state. */
  readonly message: Message | null
  /** The messages that the task received, and the questions that they answer. */
  readonly history: readonly Message[]
  readonly artifacts: readonly Artifact[]
  /** What the agent said of the task itself, and with its events. */
  readonly metadata?: JsonObject
  /** The agent that works on the task, if it is not hosted here, and its reference for `continue_task`. */
  readonly upstream?: {
    readonly agent: string
    readonly task_id: string
    /** The agent has a task of its own, for which every process can ask it. */
    readonly followed?: true
  }
}

/** The reason for ending the work on a task that another process continues: the agent must not cancel it. */
export const handedOver = new Failure('unavailable', 'The gateway stopped.')

/** An address to which changes of a task are posted. */
export interface StoredPush {
  readonly id: string
  readonly url: string
  /** Principal key. */
  readonly owner: string
  /** What the notifications carry as proof, sealed; null if nothing. */
  readonly sealed: string | null
  /** The credential of the caller who named the address; absent without one. */
  readonly credential?: UsedCredential
  /** Present if the notifications have the form of A2A 0.3. */
  readonly version?: '0.3'
}

/** What a stored task must still be, so that it is written. */
interface ExpectedTask {
  readonly holder: string
  readonly states: readonly TaskState[]
  /** The lease, where the write is a take-over: its holder may have renewed it in the meantime. */
  readonly alive_until?: string
}

/** A task whose holder has not renewed its lease. */
interface LapsedTask extends Pick<StoredTask, 'id' | 'holder'> {
  readonly alive_until: string
}

/** Limits of tasks: unfinished ones, all of them, and their characters. */
export interface TaskBounds {
  readonly unfinished: number
  readonly total: number
  readonly characters: number
}

export interface TaskFilter {
  readonly owner: string
  readonly agent?: string | undefined
  readonly context_id?: string | undefined
  readonly state?: TaskState | undefined
  /** Only tasks that entered their state later than this. */
  readonly updated_after?: string | undefined
  /** Position of the last task of the previous page. */
  readonly after?: TaskPosition | undefined
  readonly limit: number
}

export type TaskPosition = Pick<StoredTask, 'updated_at' | 'id'>

export interface TaskPage {
  /** Tasks, the latest first; fewer than the limit if they are long. */
  readonly tasks: readonly StoredTask[]
  /** True if more tasks follow. */
  readonly more: boolean
  /** Number of tasks, regardless of `after` and `limit`. */
  readonly total: number
}

/** A2A tasks. They have no revision and are not in the change log. No method returns an expired task. */
export interface TaskStore {
  /**
   * Adds a task. Deletes the oldest finished tasks if its key, or all anonymous callers together, have too many.
   * `busy`: the key has too many unfinished tasks; `full`: all keys together have too many. In both cases the task is
   * not added.
   */
  add(task: StoredTask, each: TaskBounds, all: TaskBounds): Promise<'added' | 'busy' | 'full'>
  get(id: string): Promise<StoredTask | undefined>
  /**
   * Writes the task if what is stored is as expected; returns false without a write if it is not. The lease of a task
   * that nobody works on is stored only if the task has addresses, to which its state is to be posted.
   */
  save(task: StoredTask, expected: ExpectedTask): Promise<boolean>
  list(filter: TaskFilter): Promise<TaskPage>
  /** At most so many tasks whose lease has expired, the longest dead first. Changes nothing. */
  lapsed(limit: number): Promise<readonly LapsedTask[]>
  /** The addresses for push notifications of a task. */
  push(id: string): Promise<readonly StoredPush[]>
  /** Changes these addresses; has no effect on an unknown task. What `change` throws undoes the change. */
  changePush(id: string, change: (configs: readonly StoredPush[]) => readonly StoredPush[]): Promise<void>
}
