import { randomUUID } from 'node:crypto'
import { Failure } from '../../../../schemas/failure.ts'
import type { JsonObject } from '../../../../schemas/json.ts'
import {
  cancelledBy,
  isRequest,
  type McpId,
  type McpMessage,
  type McpRequest,
} from '../../../common/mcp/message.ts'
import { modernVersion, versionKey } from '../../../common/mcp/protocol.ts'
import { givenUp, refusalIn } from '../../../common/mcp/questions.ts'
import { principalKey } from '../../../common/principal-key.ts'
import { Fault, faultText, internalFault, unknownMethod } from '../protocol-2026/fault.ts'
import type { McpCaller } from '../protocol-2026/protocol.ts'
import { faultOf, invalidField } from '../views/ask.ts'
import type { ClientExchange } from '../views/forward.ts'
import { acknowledgement, type Subscribe } from '../views/subscriptions.ts'
import { ClientQuestions } from './client-questions.ts'
import { SessionListeners } from './listeners.ts'
import { capabilitiesIn, sessionIdOf } from './session-id.ts'

/**
 * Returns the result of one method, as JSON text where that is at hand. Throws Fault; any other error is internal. The
 * text of a frozen result is cached.
 */
export type LegacyMethod = (
  params: Readonly<Record<string, unknown>>,
  exchange: ClientExchange,
) => object | string | Promise<object | string>

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
  readonly describe: (exchange: ClientExchange) => object | Promise<object>
  /** Tells the client of changes. */
  readonly subscribe: Subscribe
  /** True if a client over HTTP may keep a stream open for changes. */
  readonly streams: boolean
  readonly onError: (fault: unknown) => void
}

/** One message: a request of HTTP, or a message of a connection. */
export interface LegacyPost {
  readonly message: McpMessage
  readonly caller: McpCaller
  /** As `initialize` answered it. */
  readonly session_id: string | undefined
  /** True over HTTP, where a status asks for a token, and a request of its own cancels another. */
  readonly over_http: boolean
  readonly signal: AbortSignal
  /** Sends a message before the answer. */
  readonly send: (message: object) => Promise<void>
}

/** The stream of a session. */
interface LegacyStream extends Omit<LegacyPost, 'message'> {
  /** Called when notifications may come. */
  readonly opened?: () => void
}

/** The answer; without a text, the message was no request. */
export interface LegacyAnswer {
  readonly text?: string
  /** The id of a new session. */
  readonly session_id?: string
  readonly failure?: Failure
}

/** The protocol versions with `initialize`, for every transport, without any state of this gateway. */
export interface Legacy {
  readonly streams: boolean
  /** Never throws. */
  take(post: LegacyPost): Promise<LegacyAnswer>
  /** Sends notifications of changes until the signal aborts; rejects before it has opened if there are none. */
  listen(stream: LegacyStream): Promise<void>
}

export const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']
/** Methods that 2026-07-28 added. */
const laterMethods = new Set(['server/discover', 'subscriptions/listen'])
const asModern = `It is a method of ${modernVersion}: state that version in params._meta as ${versionKey}.`
const subscriptions = new Set(['resources/subscribe', 'resources/unsubscribe'])
/** Time to end a call at the agent for a client that has cancelled it, in milliseconds. */
const givingUp_ms = 5_000
/** Rounds of questions in one call. */
const maxRounds = 16

export function createLegacy(options: LegacyOptions): Legacy {
  const { clients, agent, methods, describe, subscribe, streams, onError } = options
  const { questions, listeners, running } = clients
  const methodsByName = new Map(Object.entries(methods))

  async function callerOf({ caller }: Pick<LegacyPost, 'caller'>): Promise<string> {
    const principal = await caller.identify()
    return principal === null ? 'anonymous' : principalKey(principal)
  }

  function exchangeOf(post: Omit<LegacyPost, 'message'>, signal: AbortSignal): ClientExchange {
    return {
      caller: post.caller,
      signal,
      challenges: post.over_http,
      facts: { era: 'legacy', capabilities: capabilitiesIn(post.session_id) },
      notify: (method, params) => post.send({ jsonrpc: '2.0', method, params }),
    }
  }

  async function resultOf(
    request: McpRequest,
    post: LegacyPost,
    signal: AbortSignal,
  ): Promise<object | string> {
    const { method, params = {} } = request
    const exchange = exchangeOf(post, signal)
    if (method === 'ping') return {}
    if (method === 'initialize') return { protocolVersion: versionFor(params), ...(await describe(exchange)) }
    const { session_id } = post
    const answer = methodsByName.get(method)
    if (!answer)
      throw unknownMethod(method, methodsByName.keys(), laterMethods.has(method) ? asModern : undefined)
    const result = await answer(params, exchange)
    if (subscriptions.has(method) && session_id !== undefined) {
      listeners.changed(sessionKey(session_id, await callerOf(post)), method, params.uri)
    }
    if (!isQuestion(result)) return result
    return await afterQuestions(result, post, exchange, async (more, within) =>
      answer({ ...params, ...more }, within),
    )
  }

  /** Asks the client what a method asks, round by round, until the method has its result. */
  async function afterQuestions(
    first: Question,
    post: LegacyPost,
    exchange: ClientExchange,
    resume: (more: object, within: ClientExchange) => Promise<object | string>,
  ): Promise<object | string> {
    const { signal } = exchange
    let result: object | string = first
    for (let round = 0; isQuestion(result) && round < maxRounds; round++) {
      const { inputRequests, requestState } = result
      const state = requestState === undefined ? {} : { requestState }
      const inputResponses: Record<string, JsonObject> = {}
      for (const [name, question] of Object.entries(inputRequests ?? {})) {
        const asking = { caller: await callerOf(post), signal, send: post.send }
        const response = await questions.ask(withVisitId(question), asking).catch((thrown) => {
          const within = { ...exchange, signal: AbortSignal.timeout(givingUp_ms) }
          resume({ inputResponses: { [name]: givenUp }, ...state }, within).catch(() => {})
          throw thrown
        })
        inputResponses[name] = declined(question.method, response)
      }
      result = await resume({ inputResponses, ...state }, exchange)
    }
    if (!isQuestion(result)) return result
    throw faultOf(new Failure('upstream_invalid', `${agent} asks without end, or asks nothing.`))
  }

  const sessionKey = (session: string, caller: string) => `${agent} ${session} ${caller}`

  const runningKey = (session: string | undefined, id: McpId) => `${session} ${JSON.stringify(id)}`

  async function answer(request: McpRequest, post: LegacyPost): Promise<LegacyAnswer> {
    const { id, method, params } = request
    const { session_id, over_http, signal } = post
    const key = runningKey(session_id, id)
    const controller = over_http && session_id !== undefined ? new AbortController() : undefined
    if (controller) running.set(key, controller)
    try {
      const either = controller ? AbortSignal.any([signal, controller.signal]) : signal
      const result = await resultOf(request, post, either)
      const session = method === 'initialize' ? { session_id: sessionIdOf(params?.capabilities) } : {}
      return { text: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${textOf(result)}}`, ...session }
    } catch (thrown) {
      const expected =
        thrown instanceof Failure ? faultOf(thrown) : thrown instanceof Fault ? thrown : undefined
      if (!expected) onError(thrown)
      const fault = expected ?? internalFault()
      return { text: faultText(fault, id), ...(fault.failure && { failure: fault.failure }) }
    } finally {
      if (controller && running.get(key) === controller) running.delete(key)
    }
  }

  return {
    streams,
    async take(post) {
      const { message, session_id } = post
      if (isRequest(message)) return await answer(message, post)
      if ('method' in message) {
        const cancelled = cancelledBy(message)
        if (cancelled !== undefined) running.get(runningKey(session_id, cancelled))?.abort()
      } else questions.answer(message, await callerOf(post))
      return {}
    },
    async listen(stream) {
      const { session_id = '', signal, opened } = stream
      await listeners.listen(sessionKey(session_id, await callerOf(stream)), signal, (filter, until) => {
        const exchange = exchangeOf(stream, until)
        return subscribe(filter, {
          ...exchange,
          async notify(method, params) {
            if (method === acknowledgement) opened?.()
            else await exchange.notify(method, params)
          },
        })
      })
    },
  }
}

/** 2025-11-25 wants an id for each address to visit, which 2026-07-28 does not have. */
function withVisitId({ method, params }: { method: string; params: JsonObject }) {
  const needsId = params?.mode === 'url' && params.elicitationId === undefined
  return { method, params: needsId ? { ...params, elicitationId: randomUUID() } : params }
}

/** The version of the client if it is spoken here, else the newest. */
function versionFor({ protocolVersion }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof protocolVersion !== 'string') throw invalidField('/protocolVersion', 'This must be a string.')
  return versions.includes(protocolVersion) ? protocolVersion : versions[0]
}

/** A client that refuses a form cancels it, so that the call of the server ends; any other refusal is the server's. */
function declined(method: string, response: JsonObject): JsonObject {
  return method === 'elicitation/create' && refusalIn(response) ? { action: 'cancel' } : response
}

interface Question {
  readonly inputRequests?: Readonly<Record<string, { method: string; params: JsonObject }>>
  readonly requestState?: string
}

function isQuestion(result: object | string): result is Question {
  return typeof result === 'object' && 'resultType' in result && result.resultType === 'input_required'
}

const written = new WeakMap<object, string>()

function textOf(result: object | string): string {
  if (typeof result === 'string') return result
  if (!Object.isFrozen(result)) return withoutLaterMembers(result)
  const text = written.get(result) ?? withoutLaterMembers(result)
  written.set(result, text)
  return text
}

/** The text of a result without the members that 2026-07-28 added. */
function withoutLaterMembers(result: object): string {
  const { resultType, ttlMs, cacheScope, ...rest } = result as Record<string, unknown>
  return JSON.stringify(rest)
}
