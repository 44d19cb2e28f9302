import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  Progress,
  Transport,
} from '@modelcontextprotocol/client'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { abortable, linkSignals } from '../../common/abort.ts'
import type { McpId } from '../../common/mcp/message.ts'
import { questionMethods, refusalIn } from '../../common/mcp/questions.ts'
import { connectionClosed } from '../refusal.ts'
import type { McpReply } from '../remote-agent.ts'
import { changes } from './changes.ts'
import { type Current, type McpExchange, runAfterCall } from './exchange.ts'
import { closedBeforeAnswer } from './failure.ts'

/** A visit to an address has ended; 2026-07-28 does not know it. */
const visitEnded = 'notifications/elicitation/complete'

type SendOptions = Parameters<Transport['send']>[1]

/** Further notifications are dropped, as a client that does not read gets none. */
const maxNotifying = 64
/** Further answers are dropped: over HTTP each is a request, and a server could ask for thousands at once. */
const maxAnswering = 64

/** The SDK's client counts its requests from 0. */
const firstOwnId = 2 ** 30

/** A request that waits for its answer. */
interface Waiting {
  readonly exchange: McpExchange
  /** Absent for a request of the SDK's client, which gets its answer by `onmessage`. */
  readonly own?: OwnRequest
}

interface OwnRequest {
  resolve(reply: McpReply): void
  reject(failure: Failure): void
  onprogress(progress: Progress): void
}

/**
 * A transport on which every request gets an answer or an error: the SDK leaves a request waiting if its stream ends,
 * breaks, or carries answers to other requests. Each message belongs to a call, whose end ends the streams of its
 * messages. A fragile transport is closed at its first error.
 */
export class WatchedTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onerror?: NonNullable<Transport['onerror']>
  onclose?: NonNullable<Transport['onclose']>
  readonly hasPerRequestStream?: boolean
  readonly #inner: Transport
  readonly #current: Current
  readonly #isFragile: boolean
  readonly #background: McpExchange | undefined
  readonly #pending = new Map<McpId, Waiting>()
  #highestId = -1
  #nextOwnId = firstOwnId
  /** Notifications that the client has not taken yet. */
  #notifying = 0
  /** Answers to the server that are on their way. */
  #answering = 0

  /** `background`: the exchange of what belongs to no call, which begins when the session is open. */
  constructor(inner: Transport, current: Current, isFragile: boolean, background?: McpExchange) {
    this.#inner = inner
    this.#current = current
    this.#isFragile = isFragile
    this.#background = background
    if (inner.hasPerRequestStream !== undefined) this.hasPerRequestStream = inner.hasPerRequestStream
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  /** True for what comes by the stream that belongs to no call. */
  get #isInBackground(): boolean {
    return this.#background !== undefined && this.#current.getStore() === this.#background
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  async start(): Promise<void> {
    const inner = this.#inner
    inner.onmessage = (message) => this.#receive(message)
    inner.onerror = (error) => {
      if (this.#isInBackground) return
      if (error instanceof Failure) this.#failAll(error)
      else if (isMalformed(error)) this.#failAll(notMessage())
      this.onerror?.(error)
      // The SDK's event source would reopen its stream and wait there for answers to requests on the old
      // stream.
      if (this.#isFragile) void inner.close()
    }
    inner.onclose = () => {
      this.#failOwn(closedBeforeAnswer())
      this.onclose?.()
    }
    const starting = inner.start()
    const signal = this.#current.getStore()?.signal
    await (signal ? abortable(starting, signal) : starting)
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if ('method' in message && 'id' in message) return this.#request(message, message.id, { options })
    if ('method' in message && message.method === 'notifications/initialized' && this.#background) {
      return this.#current.run(this.#background, () => this.#inner.send(message, options))
    }
    if ('method' in message) return this.#pass(message, options)
    if (this.#answering >= maxAnswering) return
    this.#answering++
    try {
      await this.#pass(message, options)
    } finally {
      this.#answering--
    }
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /**
   * Sends a request of `initialize`-era MCP for the running exchange; resolves to the answer as the server wrote it. The
   * SDK's client takes three times as long: it reads each answer several times.
   */
  request(method: string, params: JsonObject, onprogress: (progress: Progress) => void): Promise<McpReply> {
    const id = this.#nextOwnId++
    const _meta = { ...(isRecord(params._meta) && params._meta), progressToken: id }
    const message: JSONRPCRequest = { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
    return new Promise((resolve, reject) => {
      this.#request(message, id, { own: { resolve, reject, onprogress } }).catch(reject)
    })
  }

  async #pass(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    const { headers = {}, signal } = this.#current.getStore() ?? {}
    if (signal && !signal.aborted) return this.#inner.send(message, options)
    await runAfterCall(this.#current, headers, () => this.#inner.send(message, options))
  }

  /** A detail becomes a Failure only if the request still waits: each call ends with such an attempt. */
  #fail(id: McpId, reason: Failure | string): void {
    const waiting = this.#pending.get(id)
    if (!waiting) return
    this.#pending.delete(id)
    const failure = typeof reason === 'string' ? invalid(reason) : reason
    if (waiting.own) {
      waiting.own.reject(duringCall(failure))
      return
    }
    // No server can forge `data` that is a Failure: data from the server is JSON.
    const error = { code: -32603, message: failure.message, data: failure }
    this.onmessage?.({ jsonrpc: '2.0', id, error })
  }

  #failAll(failure: Failure): void {
    for (const id of [...this.#pending.keys()]) this.#fail(id, failure)
  }

  #cancel(requestId: McpId, reason: unknown): void {
    const params = { requestId, reason: reason instanceof Error ? reason.message : String(reason) }
    this.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {})
  }

  /** The SDK's client itself fails its requests when the connection closes. */
  #failOwn(failure: Failure): void {
    for (const [id, { own }] of [...this.#pending]) if (own) this.#fail(id, failure)
  }

  #receive(message: JSONRPCMessage): void {
    if ('method' in message) {
      if ('id' in message) this.#question(message)
      else this.#notification(message)
      return
    }
    const { id } = message
    const waiting = id === undefined ? undefined : this.#pending.get(id)
    if (id !== undefined && waiting) {
      this.#pending.delete(id)
      if (waiting.own) settle(waiting.own, message)
      // The SDK delivers progress a microtask later than answers, and an answer ends the progress.
      else queueMicrotask(() => this.onmessage?.(message))
      return
    }
    if (this.#isInBackground || this.#isLate(id)) return
    this.#failAll(invalid('The agent answered a request that was not sent.'))
  }

  /** True for the id of a request that was sent, and has been answered or has failed. */
  #isLate(id: McpId | undefined): boolean {
    if (typeof id !== 'number') return false
    return id < firstOwnId ? id <= this.#highestId : id < this.#nextOwnId
  }

  /**
   * The call that a message of the server belongs to: that of its stream, else the only one that waits. The calls of a
   * session are all of one caller, so what is tied to none of them belongs to the last one that can be asked.
   */
  #callOfServer(): McpExchange | undefined {
    const own = this.#current.getStore()
    if (own?.is_listening) return own
    const waiting = new Set([...this.#pending.values()].map(({ exchange }) => exchange))
    if (own && waiting.has(own)) return own
    if (this.#isInBackground) return [...waiting].findLast(({ ask }) => ask !== undefined)
    const [only] = waiting
    return waiting.size === 1 ? only : undefined
  }

  /** The SDK answers what is no question to the caller. */
  #question(message: JSONRPCRequest): void {
    const { id, method, params = {} } = message
    const exchange = this.#callOfServer()
    exchange?.onActivity?.()
    if (!exchange?.ask || !questionMethods.has(method)) {
      this.onmessage?.(message)
      return
    }
    const send = (outcome: object) =>
      this.#current.run(exchange, () =>
        this.send({ jsonrpc: '2.0', id, ...outcome } as JSONRPCMessage).catch(() => {}),
      )
    exchange.ask({ method, params: params as JsonObject }).then(
      (response) => send(refusalIn(response) ? { error: response.error } : { result: response }),
      (thrown) => send({ error: { code: -32603, message: Failure.from(thrown).message } }),
    )
  }

  #notification(message: JSONRPCNotification): void {
    const { method, params = {} } = message
    if (method === 'notifications/progress') {
      const awaited = this.#pending.get(params.progressToken as McpId)
      if (awaited?.own) {
        awaited.exchange.onActivity?.()
        awaited.own.onprogress(params as unknown as Progress)
        return
      }
    }
    const exchange = this.#callOfServer()
    exchange?.onActivity?.()
    this.#receiverOf(method, exchange)?.(params as JsonObject)
    this.onmessage?.(message)
  }

  /** Who is told of a notification: the caller of the call that it belongs to, or those who listen for changes. */
  #receiverOf(method: string, exchange: McpExchange | undefined): ((params: JsonObject) => void) | undefined {
    const isChange = changes.has(method)
    const isOfCall = method === 'notifications/message' || (method === visitEnded && exchange?.is_legacy)
    const isOwn = exchange?.is_listening ? isChange : isOfCall
    const notify = isOwn
      ? exchange?.notifyClient
      : isChange || method === visitEnded
        ? (this.#current.getStore() ?? exchange)?.announce
        : undefined
    return notify && (({ _meta, ...plain }) => this.#notify(() => notify(method, plain)))
  }

  #notify(send: () => Promise<void>): void {
    if (this.#notifying >= maxNotifying) return
    this.#notifying++
    send()
      .catch(() => {})
      .finally(() => {
        this.#notifying--
      })
  }

  async #request(
    message: JSONRPCMessage,
    id: McpId,
    { own, options }: { readonly own?: OwnRequest; readonly options?: SendOptions },
  ): Promise<void> {
    const exchange = this.#current.getStore()
    if (!exchange) throw new Failure('internal', 'A request belongs to no call.')
    // The SDK's client looks at the signal itself.
    if (own) exchange.signal.throwIfAborted()
    this.#pending.set(id, { exchange, ...(own && { own }) })
    // The SDK's first request, which detects the protocol version, has no signal.
    const onAbort = () => {
      if (own && this.#pending.has(id)) this.#cancel(id, exchange.signal.reason)
      this.#fail(id, 'The call is over.')
    }
    exchange.signal.addEventListener('abort', onAbort, { once: true })
    if (typeof id === 'number' && id < firstOwnId) this.#highestId = Math.max(this.#highestId, id)
    const requestSignal =
      isRecord(options) && options.requestSignal instanceof AbortSignal ? options.requestSignal : undefined
    try {
      await this.#inner.send(message, {
        ...options,
        // AbortSignal.any makes weak references, which keep what a call made until the next full collection.
        requestSignal: requestSignal ? linkSignals(requestSignal, exchange.signal).signal : exchange.signal,
        onRequestStreamEnd: () => this.#fail(id, exchange.failure ?? 'The stream ended without the answer.'),
      })
      if (this.#inner.hasPerRequestStream && exchange.status === 202) {
        this.#fail(id, 'The agent accepted the request (202) without answering it.')
      }
    } catch (error) {
      this.#pending.delete(id)
      throw error
    }
  }
}

function settle({ resolve, reject }: OwnRequest, message: JSONRPCResponse): void {
  const reply = replyIn(message)
  if (reply) resolve(reply)
  else reject(notMessage())
}

/** The answer that a message is; undefined for one that is malformed. */
function replyIn(message: JSONRPCResponse): McpReply | undefined {
  const { result, error }: { readonly result?: unknown; readonly error?: unknown } = message
  if (isRecord(result)) return { result: withoutType(result as JsonObject) }
  if (!isRecord(error) || typeof error.message !== 'string' || !Number.isInteger(error.code)) return undefined
  return { error: { code: Number(error.code), message: error.message, data: error.data } }
}

/** Only results of 2026-07-28 have a type. */
function withoutType(result: JsonObject): JsonObject {
  if (!('resultType' in result)) return result
  const { resultType: _, ...others } = result
  return others
}

/** The end of a process says why, and not that a request had been sent. */
function duringCall(failure: Failure): Failure {
  const { code, message, details, cause } = failure
  if (code !== 'upstream_failed' || details.upstream) return failure
  return new Failure(code, message, { ...details, upstream: { code: connectionClosed } }, cause)
}

function isMalformed({ name }: Error): boolean {
  return name === 'SyntaxError' || name.endsWith('ZodError')
}

function notMessage(): Failure {
  return invalid('The agent sent something that is not a message.')
}

function invalid(detail: string): Failure {
  return new Failure('upstream_invalid', detail)
}
