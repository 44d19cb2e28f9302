import type { Principal } from '../../../schemas/scope.ts'
import { isBusy, type StoredTask, type TaskStore } from '../../../schemas/task.ts'
import { principalOf } from '../../common/principal-key.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { errorOf } from './protocol/error.ts'
import { createRouting } from './routing.ts'
import { explanation } from './send.ts'
import type { TaskManager } from './tasks/task-manager.ts'
import type { A2aCall } from './work.ts'

interface AbandonedContext extends Pick<TransportContext, 'dispatch' | 'agents' | 'onError'> {
  readonly taskManager: TaskManager
  readonly store: { readonly tasks: Pick<TaskStore, 'lapsed' | 'get'> }
}

/** Tasks of one look: all that can be unfinished. */
const batch = 1000

/**
 * The job that takes over the tasks whose process died, or has no connection to the store. A task of a listed A2A agent
 * goes on; any other has failed; an end that is not posted yet is posted. Only `run` writes.
 */
export function createAbandonedTasks(context: AbandonedContext) {
  const { taskManager, store } = context
  const work = createRouting(context)
  const explain = (thrown: unknown, id: string) => errorOf(context, thrown, id)
  /** Since when each expired lease is seen, by its task, on the clock of `performance.now`. */
  let seen = new Map<string, { readonly alive_until: string; readonly since: number }>()
  let looked = Number.NEGATIVE_INFINITY

  async function goOn(task: StoredTask, signal: AbortSignal): Promise<void> {
    const call = callOf(task, signal)
    const run = isBusy(task.state) && task.upstream?.followed ? work.resume?.(task) : undefined
    await taskManager.takeOver(task, run && { run, call, explain: explanation(explain, call) })
  }

  return {
    isDue: async () => (await store.tasks.lapsed(1)).length > 0,
    async run(signal: AbortSignal): Promise<void> {
      const { grace } = taskManager.times
      const lapsed = await store.tasks.lapsed(batch)
      const now = performance.now()
      // What was seen before an outage of the store says nothing of the leases after it.
      const before = now - looked > grace ? new Map() : seen
      looked = now
      seen = new Map(
        lapsed.map(({ id, alive_until }) => {
          const earlier = before.get(id)
          return [id, earlier?.alive_until === alive_until ? earlier : { alive_until, since: now }]
        }),
      )
      for (const { id, holder, alive_until } of lapsed) {
        if (signal.aborted) return
        const { since = now } = seen.get(id) ?? {}
        if (holder !== '' && now - since < grace) continue
        const task = await store.tasks.get(id)
        if (task?.alive_until !== alive_until) continue
        // One task that cannot go on does not keep the others.
        await goOn(task, signal).catch(context.onError)
      }
    },
  }
}

/** A call on behalf of the owner of the task, with the credential that began it. */
function callOf({ owner, counted_by, credential }: StoredTask, signal: AbortSignal): A2aCall {
  const rights = { scopes: new Set(['a2a:call'] as const), namespaces: [] }
  const principal: Principal | null =
    owner === null ? null : { ...principalOf(owner), ...rights, ...(credential && { credential }) }
  return { principal, signal, client: { address: owner === null ? counted_by : '', via: [] } }
}
