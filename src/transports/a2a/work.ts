import type { JsonObject } from '../../../schemas/json.ts'
import type { Artifact, Part, StoredTask, TaskState } from '../../../schemas/task.ts'
import type { Call } from '../../router/call.ts'
import type { SendParams } from './protocol/params.ts'

/** Where a task of an agent that is not hosted here comes from. */
export interface TaskOrigin {
  readonly agent: string
  /** The agent's reference for `continue_task`. */
  readonly task_id: string
  readonly context_id?: string
  /** The agent has a task of its own, for which every process can ask it. */
  readonly followed?: true
}

/** An update of a task during the work on it. The first state that is not busy ends the work. */
export type WorkUpdate = (
  | { readonly state: TaskState; readonly parts?: readonly Part[]; readonly metadata?: JsonObject }
  /** A message as another agent wrote it; its ids of task and context are replaced. */
  | { readonly state: TaskState; readonly message: JsonObject }
  | { readonly artifact: Artifact; readonly append?: boolean; readonly last?: boolean }
) & {
  readonly origin?: TaskOrigin
  /** The name of a state that this gateway does not know. */
  readonly shown_state?: string
  /** Other fields of the event, such as its metadata. */
  readonly event_fields?: JsonObject
  /** Metadata of the task itself, with its first update. */
  readonly task_metadata?: JsonObject
}

/** A call with what its request says beside the body. */
export interface A2aCall extends Call {
  /** The value of `A2A-Extensions`. */
  readonly extensions?: string
  /** The caller receives the events of the task. */
  readonly streams?: true
}

/** Resolves when the listeners can take more. Throws if the task takes no updates, or no further ones. */
export type Tell = (update: WorkUpdate) => Promise<void>

/** The content of a message from the agent. */
export interface MessageContent {
  /** JSON text. */
  readonly parts: string
  readonly metadata?: JsonObject
}

/** The work for one message. Without both members there is no such work; with both, the caller chooses. */
export interface Job {
  /** Package name of the agent that the message is for; lists of its tasks need it. */
  readonly agent?: string
  /** Answers with a message. Throws Failure and A2aRefusal. */
  readonly answer?: (call: Call) => Promise<MessageContent>
  /**
   * Works on a task. The first update creates the task: an error before it is an error of the request, an error after
   * it fails the task. Returning without a final update completes the task; returning a message (an object) before the first
   * update answers with that message.
   */
  readonly run?: (call: A2aCall, tell: Tell) => Promise<unknown>
}

/** The work behind the bindings: the router in the product, scripted scenarios in the conformance kit. */
export interface Work {
  /**
   * The work for a message, the task that the message continues, and the agents' references of the tasks to which it
   * refers. Throws Failure and A2aRefusal for a message that
   * cannot be read.
   */
  read(params: SendParams, task: StoredTask | undefined, references: readonly string[]): Job
  /** The rest of the work on a task of an agent of A2A whose process ended. */
  resume?(task: StoredTask): NonNullable<Job['run']>
  /** Tells the agent of a task that its caller cancels it. Throws A2aRefusal TASK_NOT_CANCELABLE if the agent refuses. */
  cancel?(task: StoredTask, call: Call): Promise<void>
  /** The card for this caller, as JSON text. Throws Failure. */
  extendedCard(tenant: string | undefined, version: '1.0' | '0.3', call: Call): Promise<string>
}
