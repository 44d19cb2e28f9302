import type { A2aReason } from '../../../schemas/a2a-codes.ts'

/** One operation of A2A 1.0 is one row: its JSON-RPC method, and its verb and path over HTTP (section 5.3). */
export interface Operation {
  readonly name: string
  readonly verb: 'GET' | 'POST' | 'DELETE'
  /** What stands behind the interface's URL and the tenant. */
  readonly path: RegExp
  /** It is not served here, and this says so. */
  readonly refused?: A2aReason
}

const push = 'PUSH_NOTIFICATION_NOT_SUPPORTED'
const configs = /^tasks\/[^/]+\/pushNotificationConfigs$/
const oneConfig = /^tasks\/[^/]+\/pushNotificationConfigs\/[^/]+$/

export const operations: readonly Operation[] = [
  { name: 'SendMessage', verb: 'POST', path: /^message:send$/ },
  { name: 'SendStreamingMessage', verb: 'POST', path: /^message:stream$/, refused: 'UNSUPPORTED_OPERATION' },
  {
    name: 'SubscribeToTask',
    verb: 'POST',
    path: /^tasks\/[^/]+:subscribe$/,
    refused: 'UNSUPPORTED_OPERATION',
  },
  {
    name: 'SubscribeToTask',
    verb: 'GET',
    path: /^tasks\/[^/]+:subscribe$/,
    refused: 'UNSUPPORTED_OPERATION',
  },
  { name: 'CancelTask', verb: 'POST', path: /^tasks\/[^/]+:cancel$/, refused: 'TASK_NOT_FOUND' },
  { name: 'GetTask', verb: 'GET', path: /^tasks\/[^/:]+$/, refused: 'TASK_NOT_FOUND' },
  { name: 'ListTasks', verb: 'GET', path: /^tasks$/, refused: 'UNSUPPORTED_OPERATION' },
  { name: 'CreateTaskPushNotificationConfig', verb: 'POST', path: configs, refused: push },
  { name: 'ListTaskPushNotificationConfigs', verb: 'GET', path: configs, refused: push },
  { name: 'GetTaskPushNotificationConfig', verb: 'GET', path: oneConfig, refused: push },
  { name: 'DeleteTaskPushNotificationConfig', verb: 'DELETE', path: oneConfig, refused: push },
  {
    name: 'GetExtendedAgentCard',
    verb: 'GET',
    path: /^extendedAgentCard$/,
    refused: 'UNSUPPORTED_OPERATION',
  },
]

export const refusals: Readonly<Record<A2aReason, string>> = {
  TASK_NOT_FOUND: 'There is no such task: every message is answered at once, by a message.',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'No push notifications are sent from here.',
  UNSUPPORTED_OPERATION: 'This operation is not served here; SendMessage is.',
  CONTENT_TYPE_NOT_SUPPORTED: 'This part is not read here.',
  VERSION_NOT_SUPPORTED: 'This is A2A 1.0: send the header A2A-Version: 1.0.',
}
