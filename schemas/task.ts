import { z } from 'zod'
import { isRecord, type Json, type JsonObject } from './json.ts'

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

/** Somebody is at work. */
export const busyStates = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const satisfies TaskState[]
/** Whoever asked has to say more before it goes on. */
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

/** Nothing follows. */
export function isTerminal(state: TaskState): boolean {
  return !isBusy(state) && !isInterrupted(state)
}

/** What an action answers where another agent wants to be told more before it goes on. */
const InputRequired = z.object({
  status: z.literal('input_required'),
  agent: z.string().describe('Package name of the agent that asks.'),
  task_id: z.string().describe('Send it with continue_task to the same agent.'),
  question: z.json().describe('What the agent says of what it wants; null where it says nothing.'),
})
export type InputRequired = z.infer<typeof InputRequired>

/** An output as what it says where it asks back; undefined for any other. */
export function inputRequiredIn(output: unknown): InputRequired | undefined {
  if (!isRecord(output) || output.status !== 'input_required') return undefined
  return InputRequired.safeParse(output).data
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

/** A task as the truth holds it. Times are ISO 8601 in UTC. */
export interface StoredTask {
  readonly id: string
  /** [issuer, subject] as JSON; null where nobody in particular asked. */
  readonly owner: string | null
  /** Whose bounds it counts against: its owner, or a network address. */
  readonly counted_by: string
  readonly context_id: string
  readonly state: TaskState
  /** When it came into its state. */
  readonly updated_at: string
  /** When it is forgotten. */
  readonly expires_at: string
  /** Its worker says that it is alive again before then; what lapsed failed. Null: nobody is at work. */
  readonly alive_until: string | null
  /** What was said of its state. */
  readonly message: Message | null
  /** What it was asked. */
  readonly history: readonly Message[]
  readonly artifacts: readonly Artifact[]
}

/** Of tasks: how many unfinished, how many in all, and how many characters they may hold. */
export interface TaskBounds {
  readonly unfinished: number
  readonly kept: number
  readonly characters: number
}

export interface TaskFilter {
  readonly owner: string
  readonly context_id?: string | undefined
  readonly state?: TaskState | undefined
  /** Those that came into their state later than that. */
  readonly updated_after?: string | undefined
  /** The last one that was seen. */
  readonly after?: TaskPosition | undefined
  readonly limit: number
}

export type TaskPosition = Pick<StoredTask, 'updated_at' | 'id'>

export interface TaskPage {
  /** The latest first; fewer than the limit where they are long. */
  readonly tasks: readonly StoredTask[]
  /** There are more behind them. */
  readonly more: boolean
  /** Without regard to `after` and `limit`. */
  readonly total: number
}

/** Tasks of A2A. Not entries: they have no revision and stand in no log of changes. What has expired is never seen. */
export interface TaskStore {
  /**
   * Adds it, and forgets the oldest that are over where there are too many of whom it counts against, or in all of
   * nobody's. `busy`: that one has too many unfinished; `full`: all have. Then it is not added.
   */
  add(task: StoredTask, each: TaskBounds, all: TaskBounds): Promise<'added' | 'busy' | 'full'>
  get(id: string): Promise<StoredTask | undefined>
  /** Writes it where it is in one of these states; false where it is not, and then nothing is written. */
  save(task: StoredTask, from: readonly TaskState[]): Promise<boolean>
  list(filter: TaskFilter): Promise<TaskPage>
}
