import { Failure } from '../../../../schemas/failure.ts'
import { isRecord } from '../../../../schemas/json.ts'
import { nearest } from '../../../../schemas/nearest.ts'
import type { Dialect } from '../protocol/dialect.ts'
import type { OperationName } from '../protocol/operations.ts'
import { fromEvent, fromTask } from './answer.ts'

/** The methods of A2A 0.3 (its section 7) and the operations of 1.0 to which they map. */
const methods: Readonly<Record<string, OperationName>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': 'GetExtendedAgentCard',
}

/** A2A 0.3 over JSON-RPC: other names for the operations of 1.0, with the same rules and errors. */
export const dialect03: Dialect = {
  operation(method) {
    const operation = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (operation) return operation
    const close = nearest(method, Object.keys(methods))
    throw new Failure('unknown_action', `A2A 0.3 has no method ${method}.`, {
      hint: 'message/send sends a message; for the methods of 1.0 send the header A2A-Version: 1.0.',
      ...(close.length > 0 && { nearest: close }),
    })
  },
  params(operation, params) {
    if (operation === 'SendMessage' || operation === 'SendStreamingMessage') return sendParams(params)
    if (operation.includes('PushNotificationConfig')) return pushParams(params)
    const asks = operation === 'GetExtendedAgentCard' && isRecord(params)
    return asks ? { ...params, version: '0.3' } : params
  },
  result(operation, json) {
    if (operation === 'GetExtendedAgentCard') return json
    const answer = JSON.parse(json)
    if (operation.includes('PushNotificationConfig')) return JSON.stringify(pushResult(operation, answer))
    return JSON.stringify(operation === 'SendMessage' ? fromEvent(answer) : fromTask(answer))
  },
  event: fromEvent,
}

/** Invalid params pass unchanged and are refused as in 1.0. */
function sendParams(params: unknown): unknown {
  if (!isRecord(params) || !isRecord(params.message)) return params
  const { message, configuration, ...rest } = params
  const { kind: _, role, parts, ...others } = message
  const converted = {
    ...others,
    role: role === 'user' ? 'ROLE_USER' : role,
    parts: Array.isArray(parts) ? parts.map(part) : parts,
  }
  return { ...rest, message: converted, configuration: configurationOf(configuration) }
}

function configurationOf(configuration: unknown): unknown {
  if (!isRecord(configuration)) return configuration
  const { blocking, pushNotificationConfig, historyLength, acceptedOutputModes } = configuration
  return {
    returnImmediately: blocking === false,
    ...(acceptedOutputModes !== undefined && { acceptedOutputModes }),
    ...(historyLength !== undefined && { historyLength }),
    ...(pushNotificationConfig !== undefined && {
      taskPushNotificationConfig: isRecord(pushNotificationConfig)
        ? configOf(pushNotificationConfig)
        : pushNotificationConfig,
    }),
  }
}

function part(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { kind, text, data, file, metadata } = value
  const more = metadata === undefined ? {} : { metadata }
  if (kind === 'text') return { text, ...more }
  if (kind === 'data') return { data, ...more }
  if (kind !== 'file' || !isRecord(file)) return more
  const { bytes, uri, name, mimeType } = file
  return {
    ...(bytes === undefined ? { url: uri } : { raw: bytes }),
    ...(name !== undefined && { filename: name }),
    ...(mimeType !== undefined && { mediaType: mimeType }),
    ...more,
  }
}

/** 0.3 nests a configuration, and calls the id of its task `id`. */
function pushParams(params: unknown): unknown {
  if (!isRecord(params)) return params
  const { id, taskId = id, pushNotificationConfigId, pushNotificationConfig } = params
  const config = isRecord(pushNotificationConfig) ? pushNotificationConfig : {}
  return {
    ...configOf(config),
    taskId,
    ...(pushNotificationConfigId !== undefined && { id: pushNotificationConfigId }),
  }
}

/** The notifications have the form of 0.3. It lists schemes, of which a notification uses the first. */
function configOf(config: Record<string, unknown>): Record<string, unknown> {
  const { authentication, ...rest } = config
  const common = { ...rest, version: '0.3' }
  if (!isRecord(authentication)) return common
  const { schemes, credentials } = authentication
  return {
    ...common,
    authentication: { scheme: Array.isArray(schemes) ? schemes[0] : undefined, credentials },
  }
}

function pushResult(operation: OperationName, answer: unknown): unknown {
  if (operation === 'DeleteTaskPushNotificationConfig') return null
  if (isRecord(answer) && Array.isArray(answer.configs)) return answer.configs.map(nested)
  return nested(answer)
}

function nested(config: unknown): unknown {
  if (!isRecord(config)) return config
  const { taskId, ...rest } = config
  return { taskId, pushNotificationConfig: rest }
}
