import type { Principal } from '../../../schemas/scope.ts'
import { isAbandoned, type StoredTask, type TaskStore } from '../../../schemas/task.ts'
import { principalOf } from '../../common/principal-key.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { errorOf } from './protocol/error.ts'
import { createRouting } from './routing.ts'
import { reviveFor } from './send.ts'
import type { TaskManager } from './tasks/task-manager.ts'
import type { A2aCall } from './work.ts'

interface AbandonedContext extends Pick<TransportContext, 'dispatch' | 'agents' | 'onError'> {
  readonly taskManager: TaskManager
  readonly store: { readonly tasks: Pick<TaskStore, 'abandoned'> }
}

/** Tasks of one run. */
const batch = 100

/**
 * The job that goes on with tasks whose process died, if their changes are posted to addresses: their owners wait to be
 * told, and may never ask. What cannot go on is told to have failed.
 */
export function createAbandonedTasks(context: AbandonedContext) {
  const { taskManager, store } = context
  const work = createRouting(context)
  const sending = {
    work,
    taskManager,
    explain: (thrown: unknown, id: string) => errorOf(context, thrown, id),
  }

  async function goOn(task: StoredTask, signal: AbortSignal): Promise<void> {
    if (!isAbandoned(task)) return await taskManager.lose(task)
    await reviveFor(sending, callOf(task, signal))(task)
  }

  return {
    isDue: async () => (await store.tasks.abandoned(1)).length > 0,
    async run(signal: AbortSignal): Promise<void> {
      for (const task of await store.tasks.abandoned(batch)) {
        if (signal.aborted) return
        await goOn(task, signal)
      }
    },
  }
}

/** A call on behalf of the owner of the task, who was allowed to begin it. */
function callOf({ owner }: StoredTask, signal: AbortSignal): A2aCall {
  const rights = { scopes: new Set(['a2a:call'] as const), namespaces: [] }
  const principal: Principal | null = owner === null ? null : { ...principalOf(owner), ...rights }
  return { principal, signal, client: { address: '', via: [] } }
}
