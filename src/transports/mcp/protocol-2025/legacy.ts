import { Failure } from '../../../../schemas/failure.ts'
import type { JsonObject } from '../../../../schemas/json.ts'
import { cancelledBy, isRequest, type McpMessage, type McpRequest } from '../../../common/mcp/message.ts'
import { principalKey } from '../../../common/principal-key.ts'
import { Fault, faults, faultText } from '../protocol-2026/fault.ts'
import type { McpCaller } from '../protocol-2026/protocol.ts'
import { faultOf } from '../views/ask.ts'
import type { ClientExchange } from '../views/forward.ts'
import type { Subscribe } from '../views/subscriptions.ts'
import { ClientQuestions } from './client-questions.ts'
import { SessionListeners } from './listeners.ts'
import { capabilitiesIn, sessionIdOf } from './session-id.ts'

/** Returns the result of one method. Throws Fault; any other error is internal. */
export type LegacyMethod = (
  params: Readonly<Record<string, unknown>>,
  exchange: ClientExchange,
) => object | Promise<object>

/**
 * What a gateway knows of its clients of these protocol versions while a request or a stream of theirs is open. All
 * agents share it, since the service of an agent is replaced when its entry changes.
 */
export class LegacyClients {
  readonly questions = new ClientQuestions()
  readonly listeners = new SessionListeners()
  /** By session and id of the request; a request without a session cannot be cancelled by a notification. */
  readonly running = new Map<string, AbortController>()
}

interface LegacyOptions {
  readonly clients: LegacyClients
  /** The agent: a session at another one is another session. */
  readonly agent: string
  readonly methods: Readonly<Record<string, LegacyMethod>>
  /** The result of `initialize`, without the protocol version. */
  readonly describe: LegacyMethod
  /** Tells the client of changes. */
  readonly subscribe: Subscribe
  readonly onError: (fault: unknown) => void
}

/** One message over HTTP. */
interface LegacyPost {
  readonly message: McpMessage
  readonly caller: McpCaller
  readonly session_id: string | undefined
  readonly signal: AbortSignal
  /** Sends a message before the answer. */
  readonly send: (message: object) => Promise<void>
}

/** The answer; without a text, the message was no request. */
interface LegacyAnswer {
  readonly text?: string
  /** The id of a new session. */
  readonly session_id?: string
  readonly failure?: Failure
}

/** The protocol versions with `initialize`, over HTTP, without any state of this gateway. */
export interface Legacy {
  /** Never throws. */
  take(post: LegacyPost): Promise<LegacyAnswer>
  /** Sends notifications of changes until the signal aborts; rejects before the first message if there are none. */
  listen(listening: Omit<LegacyPost, 'message'>): Promise<void>
}

const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']
const subscriptions = new Set(['resources/subscribe', 'resources/unsubscribe'])
/** Rounds of questions in one call. */
const maxRounds = 16

export function createLegacy(options: LegacyOptions): Legacy {
  const { clients, agent, methods, describe, subscribe, onError } = options
  const { questions, listeners, running } = clients
  const methodsByName = new Map(Object.entries(methods))

  async function callerOf({ caller }: Pick<LegacyPost, 'caller'>): Promise<string> {
    const principal = await caller.identify()
    return principal === null ? 'anonymous' : principalKey(principal)
  }

  async function resultOf(request: McpRequest, post: LegacyPost, signal: AbortSignal): Promise<object> {
    const { method, params = {} } = request
    const capabilities = capabilitiesIn(post.session_id)
    const exchange: ClientExchange = {
      caller: post.caller,
      signal,
      challenges: true,
      facts: { era: 'legacy', capabilities },
      notify: (name, details) => post.send({ jsonrpc: '2.0', method: name, params: details }),
    }
    if (method === 'ping') return {}
    if (method === 'initialize') {
      const { protocolVersion } = params
      const version = versions.find((candidate) => candidate === protocolVersion) ?? versions[0]
      return { protocolVersion: version, ...(await describe({}, exchange)) }
    }
    const { session_id } = post
    const answer = methodsByName.get(method)
    if (!answer) throw new Fault(faults.unknownMethod, `Method not found: ${method.slice(0, 100)}`)
    const key = await callerOf(post)
    const ask = (question: { method: string; params: JsonObject }) =>
      questions.ask(question, { caller: key, signal, send: post.send })
    let result = await answer(params, exchange)
    if (subscriptions.has(method) && session_id !== undefined) {
      listeners.changed(sessionKey(session_id, key), method, params.uri)
    }
    for (let round = 0; isQuestion(result) && round < maxRounds; round++) {
      const { inputRequests, requestState } = result
      const inputResponses: Record<string, JsonObject> = {}
      for (const [name, question] of Object.entries(inputRequests ?? {})) {
        inputResponses[name] = await ask(question).catch((thrown) => declined(question.method, thrown))
      }
      const state = requestState === undefined ? {} : { requestState }
      result = await answer({ ...params, inputResponses, ...state }, exchange)
    }
    if (isQuestion(result)) {
      throw faultOf(new Failure('upstream_invalid', `${agent} asks without end, or asks nothing.`))
    }
    return withoutLaterMembers({ ...result })
  }

  const sessionKey = (session: string, caller: string) => `${agent} ${session} ${caller}`

  async function answer(request: McpRequest, post: LegacyPost): Promise<LegacyAnswer> {
    const { id, method, params } = request
    const controller = new AbortController()
    const key = `${post.session_id} ${id}`
    if (post.session_id !== undefined) running.set(key, controller)
    try {
      const signal = AbortSignal.any([post.signal, controller.signal])
      const result = await resultOf(request, post, signal)
      const session = method === 'initialize' ? { session_id: sessionIdOf(params?.capabilities) } : {}
      return { text: JSON.stringify({ jsonrpc: '2.0', id, result }), ...session }
    } catch (thrown) {
      const fault = thrown instanceof Failure ? faultOf(thrown) : thrown instanceof Fault ? thrown : internal
      if (fault === internal) onError(thrown)
      return { text: faultText(fault, id), ...(fault.failure && { failure: fault.failure }) }
    } finally {
      if (running.get(key) === controller) running.delete(key)
    }
  }

  return {
    async take(post) {
      const { message, session_id } = post
      if (isRequest(message)) return await answer(message, post)
      if ('method' in message) {
        const cancelled = cancelledBy(message)
        if (cancelled !== undefined) running.get(`${session_id} ${cancelled}`)?.abort()
      } else questions.answer(message, await callerOf(post))
      return {}
    },
    async listen(listening) {
      const { caller, session_id = '', signal, send } = listening
      await listeners.listen(sessionKey(session_id, await callerOf(listening)), signal, (filter, until) =>
        subscribe(filter, {
          caller,
          signal: until,
          facts: { era: 'legacy', capabilities: capabilitiesIn(session_id) },
          notify: (method, params) => send({ jsonrpc: '2.0', method, params }),
        }),
      )
    },
  }
}

/** A client that refuses a form cancels it, so that the call of the server ends. Throws for every other question. */
function declined(method: string, thrown: unknown): JsonObject {
  const isRefusal = thrown instanceof Failure && thrown.code === 'invalid_request'
  if (isRefusal && method === 'elicitation/create') return { action: 'cancel' }
  throw thrown
}

interface Question {
  readonly inputRequests?: Readonly<Record<string, { method: string; params: JsonObject }>>
  readonly requestState?: string
}

function isQuestion(result: object): result is Question {
  return 'resultType' in result && result.resultType === 'input_required'
}

/** Members that 2026-07-28 added to results. */
function withoutLaterMembers({ resultType, ttlMs, cacheScope, ...result }: Record<string, unknown>): object {
  return result
}

const internal = new Fault(faults.internal, 'An unexpected error occurred; it has been logged.')
