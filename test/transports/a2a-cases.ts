import { a2aVersion, message } from '../support/a2a.ts'

export interface A2aRequest {
  readonly method?: string
  /** Its verb and path over HTTP. */
  readonly rest?: readonly [string, string]
  readonly params?: unknown
  readonly headers?: Record<string, string>
  readonly token?: string
  /** Replaces the body that the other fields would give. */
  readonly body?: string
}

interface Case extends A2aRequest {
  readonly name: string
  readonly reason: string
  readonly rpc: number
  readonly http: number
  /** Where JSON-RPC answers with another status than 200. */
  readonly rpcHttp?: number
}

export const send = ['POST', 'message:send'] as const
export const search = message([{ text: 'read a web page' }])

export const call = (action: string, params: object = {}, to = 'svc.registry') =>
  message([{ data: { to, action, params } }])
const noTask = { reason: 'TASK_NOT_FOUND', rpc: -32001, http: 404 }
const noContent = { reason: 'CONTENT_TYPE_NOT_SUPPORTED', rpc: -32005, http: 400 }
const noVersion = { reason: 'VERSION_NOT_SUPPORTED', rpc: -32009, http: 400 }
const who = { reason: 'UNAUTHENTICATED', rpc: -32051, http: 401, rpcHttp: 401 }
const invalid = { reason: 'INVALID_REQUEST', rpc: -32602, http: 400 }
const stream = { method: 'SendStreamingMessage', rest: ['POST', 'message:stream'] } as const
export const atOnce = (params: object) => ({ ...params, configuration: { returnImmediately: true } })
const configs = 'tasks/t/pushNotificationConfigs'

/** What is refused, alike over both bindings. */
export const cases: readonly Case[] = [
  { name: 'no version, which is 0.3, with a method of 1.0', headers: {}, ...noVersion },
  { name: 'version 0.3 with a method of 1.0', headers: { 'A2A-Version': '0.3' }, ...noVersion },
  { name: 'version 2.0', headers: { 'A2A-Version': '2.0' }, ...noVersion },
  { name: 'no message', params: {}, ...invalid },
  { name: 'a message without parts', params: message([]), ...invalid },
  { name: 'a message without an id', params: message([{ text: 'x' }], { messageId: '' }), ...invalid },
  { name: 'a message by an agent', params: message([{ text: 'x' }], { role: 'ROLE_AGENT' }), ...invalid },
  { name: 'an empty part', params: message([{}]), ...invalid },
  { name: 'a part that is both', params: message([{ text: 'x', data: {} }]), ...invalid },
  { name: 'two data parts', params: message([{ data: {} }, { data: {} }]), ...invalid },
  { name: 'data that is a list', params: message([{ data: [] }]), ...invalid },
  { name: 'text that is a number', params: message([{ text: 1 }]), ...invalid },
  { name: 'no words', params: message([{ text: ' ' }]), ...invalid },
  { name: 'data without an action', params: message([{ data: { params: {} } }]), ...invalid },
  { name: 'params that the action refuses', params: call('search', { limit: 0 }), ...invalid },
  { name: 'a file', params: message([{ url: 'https://example.com/a.pdf' }]), ...noContent },
  { name: 'bytes', params: message([{ raw: 'AAAA' }]), ...noContent },
  {
    name: 'words to an agent that reads none',
    params: { ...search, tenant: 'svc.utility.wiki' },
    ...noContent,
  },
  { name: 'a message of a task', params: message([{ text: 'x' }], { taskId: 't' }), ...noTask },
  {
    name: 'a message that wants push notifications without a token',
    params: { ...search, configuration: { taskPushNotificationConfig: { url: 'https://example.com' } } },
    ...who,
  },
  { name: 'an unknown action', params: call('serch'), reason: 'UNKNOWN_ACTION', rpc: -32601, http: 404 },
  {
    name: 'an unknown agent',
    params: call('a', {}, 'com.nobody'),
    reason: 'NOT_FOUND',
    rpc: -32054,
    http: 404,
  },
  {
    name: 'a call that needs a token',
    params: call('publish'),
    reason: 'UNAUTHENTICATED',
    rpc: -32051,
    http: 401,
    rpcHttp: 401,
  },
  { name: 'a bad token', token: 'bad', reason: 'UNAUTHENTICATED', rpc: -32051, http: 401, rpcHttp: 401 },
  {
    name: 'a body over 1 MiB',
    body: 'x'.repeat(1024 * 1024 + 1),
    reason: 'TOO_LARGE',
    rpc: -32063,
    http: 413,
    rpcHttp: 413,
  },
  {
    name: 'a body that is no JSON by its type',
    headers: { ...a2aVersion, 'Content-Type': 'text/plain' },
    ...noContent,
    rpcHttp: 400,
  },
  {
    name: 'a stream that wants push notifications without a token',
    ...stream,
    params: { ...search, configuration: { taskPushNotificationConfig: { url: 'https://example.com' } } },
    ...who,
  },
  { name: 'a stream of nothing', ...stream, params: {}, ...invalid },
  { name: 'a stream of a file', ...stream, params: message([{ raw: 'AAAA' }]), ...noContent },
  { name: 'a stream that needs a token', ...stream, params: call('publish'), ...who },
  {
    name: 'a stream of an unknown action',
    ...stream,
    params: call('serch'),
    reason: 'UNKNOWN_ACTION',
    rpc: -32601,
    http: 404,
  },
  { name: 'a stream of bad params', ...stream, params: call('search', { limit: 0 }), ...invalid },
  { name: 'a task at once of bad params', params: atOnce(call('search', { limit: 0 })), ...invalid },
  { name: 'a task at once that needs a token', params: atOnce(call('publish')), ...who },
  {
    name: 'at once that is no yes or no',
    params: { ...search, configuration: { returnImmediately: 'maybe' } },
    ...invalid,
  },
  {
    name: 'a history of less than nothing',
    params: { ...search, configuration: { historyLength: -1 } },
    ...invalid,
  },
  ...[
    ['GetTask', 'GET', ''],
    ['CancelTask', 'POST', ':cancel'],
    ['SubscribeToTask', 'POST', ':subscribe'],
  ].flatMap(([method = '', verb = '', suffix = '']): Case[] => {
    const of = (name: string, id: string): A2aRequest & { name: string } => ({
      name: `${method} of ${name}`,
      method,
      rest: [verb, `tasks/${encodeURIComponent(id)}${suffix}`],
      params: { id },
    })
    return [
      { ...of('an unknown task', 't'), ...noTask },
      { ...of('an id that no task could have', '../../é ☃?'), ...noTask },
      { ...of('an id that is a UUID', '01234567-89ab-7cde-8fab-0123456789ab'), ...noTask },
      { ...of('an id without end', 'x'.repeat(257)), ...invalid },
    ]
  }),
  {
    name: 'GetTask of an agent',
    method: 'GetTask',
    params: { id: 't' },
    rest: ['GET', 'svc.registry/tasks/t'],
    ...noTask,
  },
  {
    name: 'GetTask of less than no history',
    method: 'GetTask',
    params: { id: 't', historyLength: -1 },
    rest: ['GET', 'tasks/t?historyLength=-1'],
    ...invalid,
  },
  { name: 'ListTasks of nobody', method: 'ListTasks', params: {}, rest: ['GET', 'tasks'], ...who },
  {
    name: 'GetExtendedAgentCard for nobody',
    method: 'GetExtendedAgentCard',
    params: {},
    rest: ['GET', 'extendedAgentCard'],
    ...who,
  },
  {
    name: 'a new push config of no task',
    method: 'CreateTaskPushNotificationConfig',
    rest: ['POST', configs],
    params: { taskId: 't', url: 'https://example.com' },
    ...noTask,
  },
  {
    name: 'push configs of no task',
    method: 'ListTaskPushNotificationConfigs',
    rest: ['GET', configs],
    params: { taskId: 't' },
    ...noTask,
  },
  {
    name: 'a push config of no task',
    method: 'GetTaskPushNotificationConfig',
    rest: ['GET', `${configs}/c`],
    params: { taskId: 't', id: 'c' },
    ...noTask,
  },
  {
    name: 'the end of a push config of no task',
    method: 'DeleteTaskPushNotificationConfig',
    rest: ['DELETE', `${configs}/c`],
    params: { taskId: 't', id: 'c' },
    ...noTask,
  },
]
