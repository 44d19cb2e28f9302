import type { Content } from '../../schemas/content.ts'
import { isRecord, type JsonObject } from '../../schemas/json.ts'
import { contextOf, type RemoteContext, sealTask, showContext, type TaskHolder } from './task-reference.ts'

/**
 * The ids of tasks and conversations as one caller may use them, in place of the agent's own: with those, another
 * caller of the agent could be meant.
 */
export class CallerNames {
  readonly #holder: TaskHolder
  readonly #secret: Uint8Array
  readonly #context: RemoteContext | undefined

  /** `shown`: the conversation that the caller names. */
  constructor(holder: TaskHolder, secret: Uint8Array, shown: string | undefined) {
    this.#holder = holder
    this.#secret = secret
    this.#context = shown === undefined ? undefined : contextOf(shown, holder, secret)
  }

  /** The id of the conversation for the agent. */
  get sent_context(): string | undefined {
    return this.#context?.sent
  }

  /** What the agent said, with the caller's ids. */
  translate(content: Content): Content {
    if (content.protocol !== 'a2a') return content
    const { message, task, statusUpdate, artifactUpdate } = content.event
    if (isRecord(message)) return a2a({ message: this.#about(message as JsonObject) })
    if (isRecord(task)) {
      const { id, history: _, ...rest } = this.#withStatus(task as JsonObject)
      const { taskId, ...named } = this.#about({ ...rest, taskId: id ?? '' })
      return a2a({ task: { id: taskId ?? '', ...named } })
    }
    if (isRecord(statusUpdate))
      return a2a({ statusUpdate: this.#about(this.#withStatus(statusUpdate as JsonObject)) })
    if (isRecord(artifactUpdate)) return a2a({ artifactUpdate: this.#about(artifactUpdate as JsonObject) })
    return content
  }

  #withStatus(holder: JsonObject): JsonObject {
    const { status } = holder
    if (!isRecord(status) || !isRecord(status.message)) return holder
    return {
      ...holder,
      status: { ...status, message: this.#about(status.message as JsonObject) } as JsonObject,
    }
  }

  /** An object that names its task and its context. */
  #about({ taskId, contextId, ...rest }: JsonObject): JsonObject {
    const isNamed = (id: unknown) => typeof id === 'string' && id !== ''
    const context_id = isNamed(contextId) ? { context_id: String(contextId) } : {}
    return {
      ...rest,
      ...(isNamed(taskId) && {
        taskId: sealTask({ task_id: String(taskId), ...context_id }, this.#holder, this.#secret),
      }),
      ...(isNamed(contextId) && { contextId: this.#shown(String(contextId)) }),
    }
  }

  #shown(sent: string): string {
    if (sent === this.#context?.sent) return this.#context.shown
    return showContext(sent, this.#holder, this.#secret)
  }
}

function a2a(event: JsonObject): Content {
  return { protocol: 'a2a', event }
}
