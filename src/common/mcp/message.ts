import { isRecord } from '../is-record.ts'

export type Id = string | number

export interface Request {
  readonly jsonrpc: '2.0'
  readonly id: Id
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

export type Notification = Omit<Request, 'id'>

/** The answer to something that the server asked; none of ours are asked, the SDK's may be. */
export interface Response {
  readonly jsonrpc: '2.0'
  readonly id?: Id
  readonly result?: unknown
  readonly error?: unknown
}

export type Message = Request | Notification | Response

/** MCP knows no null ids and no fractions (JSONRPCRequest of the specification's schema). */
export function isId(value: unknown): value is Id {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

export function isRequest(message: Message): message is Request {
  return 'method' in message && 'id' in message
}

/** Whether a value is one JSON-RPC message of MCP: exactly what the SDK takes, so that it drops nothing of it. */
export function isMessage(value: unknown): value is Message {
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

/** The request that a notification cancels; undefined for any other, and for one that is not to be heeded. */
export function cancelledBy(message: Message): Id | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const { requestId, reason } = message.params ?? {}
  return isId(requestId) && (reason === undefined || typeof reason === 'string') ? requestId : undefined
}
