/** One operation of A2A 1.0 is one row: its JSON-RPC method, and its verb and path over HTTP (section 5.3). */
export interface Operation {
  readonly name: OperationName
  readonly verb: 'GET' | 'POST' | 'DELETE'
  /** The path after the interface's URL and the tenant; its groups are params. */
  readonly path: RegExp
}

export type OperationName =
  | 'SendMessage'
  | 'SendStreamingMessage'
  | 'GetTask'
  | 'ListTasks'
  | 'CancelTask'
  | 'SubscribeToTask'
  | 'GetExtendedAgentCard'
  | `${'Create' | 'Get' | 'Delete'}TaskPushNotificationConfig`
  | 'ListTaskPushNotificationConfigs'

const configs = /^tasks\/(?<taskId>[^/]+)\/pushNotificationConfigs$/
const oneConfig = /^tasks\/(?<taskId>[^/]+)\/pushNotificationConfigs\/(?<id>[^/]+)$/

export const operations: readonly Operation[] = [
  { name: 'SendMessage', verb: 'POST', path: /^message:send$/ },
  { name: 'SendStreamingMessage', verb: 'POST', path: /^message:stream$/ },
  { name: 'SubscribeToTask', verb: 'POST', path: /^tasks\/(?<id>[^/:]+):subscribe$/ },
  { name: 'SubscribeToTask', verb: 'GET', path: /^tasks\/(?<id>[^/:]+):subscribe$/ },
  { name: 'CancelTask', verb: 'POST', path: /^tasks\/(?<id>[^/:]+):cancel$/ },
  { name: 'GetTask', verb: 'GET', path: /^tasks\/(?<id>[^/:]+)$/ },
  { name: 'ListTasks', verb: 'GET', path: /^tasks$/ },
  { name: 'CreateTaskPushNotificationConfig', verb: 'POST', path: configs },
  { name: 'ListTaskPushNotificationConfigs', verb: 'GET', path: configs },
  { name: 'GetTaskPushNotificationConfig', verb: 'GET', path: oneConfig },
  { name: 'DeleteTaskPushNotificationConfig', verb: 'DELETE', path: oneConfig },
  { name: 'GetExtendedAgentCard', verb: 'GET', path: /^extendedAgentCard$/ },
]
