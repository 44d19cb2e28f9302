import type { Principal } from '../../../schemas/scope.ts'
import type { StoredTask } from '../../../schemas/task.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { listTasks } from './list.ts'
import { errorOf } from './protocol/error.ts'
import type { OperationName } from './protocol/operations.ts'
import { cardParams, protoNames, pushParams, taskParams } from './protocol/params.ts'
import { type SendOptions, sendMessage, streamMessage } from './send.ts'
import { pushConfig } from './tasks/push.ts'
import type { TaskManager } from './tasks/task-manager.ts'
import { type StreamEvent, showTask } from './tasks/view.ts'
import type { A2aCall, Work } from './work.ts'

/** The result of an operation: JSON text, or the events of a stream. */
export type Answer = { readonly json: string } | { readonly events: AsyncIterable<StreamEvent> }

/** Performs an operation. Throws A2aRefusal and Failure, always before the first event. */
export type Perform = (operation: OperationName, params: unknown, call: A2aCall) => Promise<Answer>

/** The router counts the other operations. */
const dispatched: ReadonlySet<OperationName> = new Set([
  'SendMessage',
  'SendStreamingMessage',
  'GetExtendedAgentCard',
])

type PushOperation = Extract<OperationName, `${string}PushNotificationConfig${string}`>

/** The operations of A2A 1.0, for both bindings and for 0.3. */
export function createService(
  context: Pick<TransportContext, 'onError' | 'count'>,
  work: Work,
  taskManager: TaskManager,
): Perform {
  const sending: SendOptions = { work, taskManager, explain: (thrown, id) => errorOf(context, thrown, id) }

  return async (operation, input, call) => {
    const { principal } = call
    const params = protoNames(input)
    if (!dispatched.has(operation)) await context.count(call)
    switch (operation) {
      case 'SendMessage':
        return { json: await sendMessage(sending, params, call) }
      case 'SendStreamingMessage':
        return { events: await streamMessage(sending, params, { ...call, streams: true }) }
      case 'GetTask': {
        const { id, historyLength } = taskParams.parse(params)
        return { json: JSON.stringify(showTask(await taskManager.get(id, principal), { historyLength })) }
      }
      case 'ListTasks':
        return { json: await listTasks(taskManager, params, principal) }
      case 'CancelTask':
        return { json: JSON.stringify(showTask(await cancel(taskParams.parse(params).id, call))) }
      case 'SubscribeToTask':
        return { events: await taskManager.subscribe(taskParams.parse(params).id, principal) }
      case 'GetExtendedAgentCard': {
        const { tenant, version } = cardParams.parse(params)
        return { json: await work.extendedCard(tenant || undefined, version, call) }
      }
      default:
        return { json: JSON.stringify(await performPush(operation, params, principal)) }
    }
  }

  async function cancel(id: string, call: A2aCall): Promise<StoredTask> {
    const tellAgent = async (task: StoredTask) => await work.cancel?.(task, call)
    return await taskManager.cancel(id, call.principal, tellAgent)
  }

  /** The operations on push notifications (section 3.1.7 to 3.1.10). */
  async function performPush(
    operation: PushOperation,
    params: unknown,
    principal: Principal | null,
  ): Promise<object> {
    const { push } = taskManager
    const { taskId, id } = pushParams.parse(params)
    const task = await taskManager.get(taskId, principal)
    switch (operation) {
      case 'CreateTaskPushNotificationConfig':
        return await taskManager.addAddress(task, pushConfig.parse(params), principal)
      case 'ListTaskPushNotificationConfigs':
        return { configs: await push.list(task), nextPageToken: '' }
      case 'GetTaskPushNotificationConfig':
        return await push.get(task, id ?? undefined)
      case 'DeleteTaskPushNotificationConfig':
        await push.remove(task, id ?? '')
        return {}
    }
  }
}
