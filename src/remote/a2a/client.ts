import { a2aErrors, passedA2aErrors } from '../../../schemas/a2a-codes.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { readEventData } from '../../common/sse.ts'

/** An interface of an agent as in a card of A2A 1.0. */
export interface AgentInterface {
  readonly url: string
  readonly binding: string
  readonly version: '1.0' | '0.3'
  readonly tenant?: string | undefined
  readonly streaming: boolean
}

export interface OutgoingMessage {
  /** The fields of the message but its ids of task and context. A message without an id gets one. */
  readonly message: JsonObject
  readonly task_id?: string | undefined
  readonly context_id?: string | undefined
  readonly reference_task_ids?: readonly string[] | undefined
  /** Metadata of the request. */
  readonly metadata?: JsonObject
  readonly accepted_output_modes?: readonly string[]
  /** An agent that does not stream answers with the task as soon as there is one. */
  readonly returns_immediately: boolean
}

export interface RequestOptions {
  readonly signal: AbortSignal
  readonly headers: Readonly<Record<string, string>>
}

/** A client of one interface of an agent, with the objects of A2A 1.0 in and out. */
export interface A2aClient {
  /**
   * Events `{task}`, `{message}`, `{statusUpdate}` and `{artifactUpdate}`; only one event if the agent does not
   * stream.
   */
  send(message: OutgoingMessage, options: RequestOptions): AsyncIterable<object>
  /** The task as it is, then its events. Absent if the agent does not stream, and in 0.3. */
  subscribe?(id: string, options: RequestOptions): AsyncIterable<object>
  task(id: string, options: RequestOptions): Promise<unknown>
  cancel(id: string, options: RequestOptions): Promise<void>
}

/** An error of the protocol that the agent answered. */
class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly reason: string | undefined
  readonly code: number | undefined

  constructor(message: string, reason: string | undefined, code: number | undefined) {
    super(message)
    this.reason = reason
    this.code = code
  }
}

const usualModes = ['application/json', 'text/plain', '*/*']

/** The ids of a caller mean nothing to the agent, or another caller. Some agents ignore the case of names. */
const ids = /^(task_?id|context_?id|reference_?task_?ids)$/iu

/** The SendMessageRequest for a message. */
export function sendRequest(
  outgoing: OutgoingMessage,
  { streaming }: Pick<AgentInterface, 'streaming'>,
  createId: () => string,
): JsonObject {
  const { message, task_id, context_id, reference_task_ids = [] } = outgoing
  const { metadata, accepted_output_modes, returns_immediately } = outgoing
  const fields = Object.fromEntries(Object.entries(message).filter(([name]) => !ids.test(name)))
  return {
    message: {
      messageId: createId(),
      role: 'ROLE_USER',
      ...fields,
      ...(task_id !== undefined && { taskId: task_id }),
      ...(context_id !== undefined && { contextId: context_id }),
      ...(reference_task_ids.length > 0 && { referenceTaskIds: reference_task_ids }),
    },
    configuration: {
      acceptedOutputModes: accepted_output_modes ?? usualModes,
      historyLength: 0,
      ...(returns_immediately && !streaming && { returnImmediately: true }),
    },
    ...(metadata && { metadata }),
  }
}

type Operation = 'SendMessage' | 'SendStreamingMessage' | 'SubscribeToTask' | 'GetTask' | 'CancelTask'

/** The verb and the path of an operation over HTTP+JSON (A2A 1.0, section 11.3). */
const paths: Readonly<Record<Operation, (id: string) => readonly ['GET' | 'POST', string]>> = {
  SendMessage: () => ['POST', '/message:send'],
  SendStreamingMessage: () => ['POST', '/message:stream'],
  SubscribeToTask: (id) => ['POST', `/tasks/${encodeURIComponent(id)}:subscribe`],
  GetTask: (id) => ['GET', `/tasks/${encodeURIComponent(id)}?historyLength=0`],
  CancelTask: (id) => ['POST', `/tasks/${encodeURIComponent(id)}:cancel`],
}

/** A client of A2A 1.0. Fields and states that it does not know pass as they came. */
export function createClient(
  { url, binding, tenant, streaming }: AgentInterface,
  fetchImpl: typeof fetch,
  createId: () => string,
): A2aClient {
  const isRpc = binding === 'JSONRPC'
  const base = new URL(url)
  const folder = `${base.pathname.replace(/\/+$/, '')}${tenant ? `/${encodeURIComponent(tenant)}` : ''}`

  /** The address of a path of the agent, with the query of its own address. */
  function addressOf(path: string): string {
    const address = new URL(`${folder}${path}`, base)
    for (const [name, value] of base.searchParams) address.searchParams.append(name, value)
    return address.href
  }

  async function request(operation: Operation, params: JsonObject, { headers, signal }: RequestOptions) {
    const isStream = operation === 'SendStreamingMessage' || operation === 'SubscribeToTask'
    const common = {
      ...headers,
      'a2a-version': '1.0',
      accept: isStream ? 'text/event-stream' : 'application/json, application/a2a+json',
    }
    if (isRpc) {
      const named = tenant ? { tenant, ...params } : params
      const body = JSON.stringify({ jsonrpc: '2.0', id: createId(), method: operation, params: named })
      const jsonHeaders = { ...common, 'content-type': 'application/json' }
      return await fetchImpl(url, { method: 'POST', headers: jsonHeaders, body, signal })
    }
    const [method, path] = paths[operation](String(params.id ?? ''))
    const sent =
      method === 'GET'
        ? { headers: common }
        : { headers: { ...common, 'content-type': 'application/a2a+json' }, body: JSON.stringify(params) }
    return await fetchImpl(addressOf(path), { method, ...sent, signal })
  }

  /** The result in a message of the agent. Throws AgentError. */
  function resultOf(text: string): JsonObject {
    const message: unknown = JSON.parse(text)
    if (!isRecord(message)) throw new Error('The answer is not an object.')
    if (isRecord(message.error)) throw agentError(message.error)
    const result = isRpc ? message.result : message
    if (!isRecord(result)) throw new Error('The answer has no result.')
    return result as JsonObject
  }

  async function single(operation: Operation, params: JsonObject, options: RequestOptions) {
    const answer = await request(operation, params, options)
    return resultOf(await answer.text())
  }

  async function* stream(operation: Operation, params: JsonObject, options: RequestOptions) {
    const answer = await request(operation, params, options)
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
    if (!isStream || !answer.ok || !answer.body) {
      yield resultOf(await answer.text())
      return
    }
    for await (const data of readEventData(answer.body)) yield resultOf(data)
  }

  return {
    async *send(outgoing, options) {
      const params = sendRequest(outgoing, { streaming }, createId)
      if (!streaming) {
        yield await single('SendMessage', params, options)
        return
      }
      yield* stream('SendStreamingMessage', params, options)
    },
    ...(streaming && { subscribe: (id, options) => stream('SubscribeToTask', { id }, options) }),
    task: (id, options) => single('GetTask', isRpc ? { id, historyLength: 0 } : { id }, options),
    async cancel(id, options) {
      await single('CancelTask', { id }, options)
    },
  }
}

const knownErrors = Object.entries<{ readonly rpc: number }>({ ...a2aErrors, ...passedA2aErrors })
const reasons = new Map<unknown, string>(knownErrors.map(([reason, { rpc }]) => [rpc, reason]))
/** Section 5.4 defines this error too; the gateway itself never sends it. */
reasons.set(-32006, 'INVALID_AGENT_RESPONSE')

/** An error of JSON-RPC, or of HTTP+JSON (AIP-193), whose ErrorInfo names its reason. */
function agentError({ code, status, message, data, details = data }: Record<string, unknown>): AgentError {
  const infos = Array.isArray(details) ? details.filter(isRecord) : []
  const stated = infos.map(({ reason }) => reason).find((reason) => typeof reason === 'string')
  const reason = stated ?? reasons.get(code) ?? (typeof status === 'string' ? status : undefined)
  const text = typeof message === 'string' ? message : ''
  const isRpcCode = typeof code === 'number' && code < 0
  return new AgentError(text, reason as string | undefined, isRpcCode ? code : undefined)
}
