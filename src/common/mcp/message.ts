import { isRecord } from '../json.ts'

export type McpId = string | number

export interface McpRequest {
  readonly jsonrpc: '2.0'
  readonly id: McpId
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

type Notification = Omit<McpRequest, 'id'>

/** The answer to a request of the server: a question to its client. */
export interface Response {
  readonly jsonrpc: '2.0'
  readonly id?: McpId
  readonly result?: unknown
  readonly error?: unknown
}

export type McpMessage = McpRequest | Notification | Response

/** The error of JSON-RPC in an answer; a client refuses a question with one. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** MCP allows neither null nor fractions as ids (JSONRPCRequest of the specification's schema). */
export function isId(value: unknown): value is McpId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

export function isRequest(message: McpMessage): message is McpRequest {
  return 'method' in message && 'id' in message
}

/**
 * True for one JSON-RPC message of MCP: for what the SDK takes for one.
 */
export function isMessage(value: unknown): value is McpMessage {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return false
  if ('method' in value) return isCall(value)
  if ('result' in value) return isResult(value)
  return isError(value)
}

function isCall(value: Record<string, unknown>): boolean {
  const { method, params } = value
  if (typeof method !== 'string') return false
  if ('id' in value && !isId(value.id)) return false
  if (!hasOnly(value, callMembers)) return false
  return params === undefined || (isRecord(params) && isMeta(params._meta))
}

const callMembers = new Set(['jsonrpc', 'id', 'method', 'params'])
const resultMembers = new Set(['jsonrpc', 'id', 'result'])
const errorMembers = new Set(['jsonrpc', 'id', 'error'])
const relatedTask = 'io.modelcontextprotocol/related-task'

function isMeta(meta: unknown): boolean {
  if (meta === undefined) return true
  if (!isRecord(meta)) return false
  const { progressToken, [relatedTask]: task } = meta
  if (progressToken !== undefined && !isId(progressToken)) return false
  return task === undefined || (isRecord(task) && typeof task.taskId === 'string')
}

function isResult({ result, ...value }: Record<string, unknown>): boolean {
  return isId(value.id) && hasOnly(value, resultMembers) && isRecord(result) && isResultMeta(result._meta)
}

function isResultMeta(meta: unknown): boolean {
  return meta === undefined || isRecord(meta)
}

function isError({ error, ...value }: Record<string, unknown>): boolean {
  if (!isRecord(error) || ('id' in value && !isId(value.id)) || !hasOnly(value, errorMembers)) return false
  return Number.isSafeInteger(error.code) && typeof error.message === 'string'
}

function hasOnly(value: object, members: ReadonlySet<string>): boolean {
  for (const member in value) if (!members.has(member)) return false
  return true
}

/** The request that a notification cancels; undefined for any other notification, and for an invalid one. */
export function cancelledBy(message: McpMessage): McpId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const { requestId, reason } = message.params ?? {}
  return isId(requestId) && (reason === undefined || typeof reason === 'string') ? requestId : undefined
}
