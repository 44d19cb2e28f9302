import type { Artifact, Part, StoredTask, TaskState } from '../../../schemas/task.ts'
import type { Call } from '../../router/call.ts'
import type { SendParams } from './protocol/params.ts'

/** What is told of a task while somebody works on it. The first state that is not busy ends the work. */
export type TaskUpdate =
  | { readonly state: TaskState; readonly parts?: readonly Part[] }
  | { readonly artifact: Artifact; readonly append?: boolean; readonly last?: boolean }

/** Resolves when whoever listens can take more. Throws where the task is not, or no longer, to be worked on. */
export type Tell = (update: TaskUpdate) => Promise<void>

/** What one message comes to; with neither there is no such job, with both the caller's wish decides. */
export interface Job {
  /** Answers with a message at once: its parts, as JSON text. Throws Failure and Refusal. */
  readonly answer?: (call: Call) => Promise<string>
  /**
   * Works on a task and tells of it; the first thing told makes the task, so what is thrown before that is an answer
   * and no task, and what is thrown later is how it failed. Coming back without having told an end completes it.
   */
  readonly run?: (call: Call, tell: Tell) => Promise<void>
}

/** What stands behind the bindings: in the product the router, under the kit its scenarios. */
export interface Work {
  /** What a message asks for, and the task that it goes on with. Throws Failure and Refusal for what is not read here. */
  read(params: SendParams, task?: StoredTask): Job
  /** The card for whoever calls, as JSON text. Throws Failure. */
  extendedCard(tenant: string | undefined, version: '1.0' | '0.3', call: Call): Promise<string>
}
