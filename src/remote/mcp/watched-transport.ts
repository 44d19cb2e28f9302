import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  Transport,
} from '@modelcontextprotocol/client'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { abortable, linkSignals } from '../../common/abort.ts'
import { questionMethods } from '../../common/mcp/questions.ts'
import { type Current, type McpExchange, runAfterCall } from './exchange.ts'

/** What a subscription tells of. */
const changes = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
])

type Id = string | number
type SendOptions = Parameters<Transport['send']>[1]

/** Further notifications are dropped, as a client that does not read gets none. */
const maxNotifying = 64

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
  readonly #pending = new Map<Id, McpExchange>()
  #highestId = -1
  /** Notifications that the client has not taken yet. */
  #notifying = 0

  constructor(inner: Transport, current: Current, isFragile: boolean) {
    this.#inner = inner
    this.#current = current
    this.#isFragile = isFragile
    if (inner.hasPerRequestStream !== undefined) this.hasPerRequestStream = inner.hasPerRequestStream
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  async start(): Promise<void> {
    const inner = this.#inner
    inner.onmessage = (message) => this.#receive(message)
    inner.onerror = (error) => {
      if (error instanceof Failure) this.#failAll(error)
      else if (isMalformed(error)) this.#failAll(invalid('The agent sent something that is not a message.'))
      this.onerror?.(error)
      // The SDK's event source would reopen its stream and wait there for answers to requests on the old
      // stream.
      if (this.#isFragile) void inner.close()
    }
    inner.onclose = () => this.onclose?.()
    const starting = inner.start()
    const signal = this.#current.getStore()?.signal
    await (signal ? abortable(starting, signal) : starting)
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if ('method' in message && 'id' in message) return this.#request(message, message.id, options)
    const { headers = {}, signal } = this.#current.getStore() ?? {}
    if (signal && !signal.aborted) return this.#inner.send(message, options)
    await runAfterCall(this.#current, headers, () => this.#inner.send(message, options))
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** A detail becomes a Failure only if the request still waits: each call ends with such an attempt. */
  #fail(id: Id, reason: Failure | string): void {
    if (!this.#pending.delete(id)) return
    const failure = typeof reason === 'string' ? invalid(reason) : reason
    // No server can forge `data` that is a Failure: data from the server is JSON.
    const error = { code: -32603, message: failure.message, data: failure }
    this.onmessage?.({ jsonrpc: '2.0', id, error })
  }

  #failAll(failure: Failure): void {
    for (const id of [...this.#pending.keys()]) this.#fail(id, failure)
  }

  #receive(message: JSONRPCMessage): void {
    if ('method' in message) {
      if ('id' in message) this.#question(message)
      else this.#notification(message)
      return
    }
    const { id } = message
    if (id !== undefined && this.#pending.delete(id)) {
      // The SDK delivers progress a microtask later than answers, and an answer ends the progress.
      queueMicrotask(() => this.onmessage?.(message))
      return
    }
    const isLate = typeof id === 'number' && id <= this.#highestId
    if (!isLate) this.#failAll(invalid('The agent answered a request that was not sent.'))
  }

  /** The call that a message of the server belongs to: that of its stream, else the only one that waits. */
  #callOfServer(): McpExchange | undefined {
    const own = this.#current.getStore()
    if (own?.is_listening) return own
    const waiting = new Set(this.#pending.values())
    if (own && waiting.has(own)) return own
    const [only] = waiting
    return waiting.size === 1 ? only : undefined
  }

  /** The SDK answers what is no question to the caller. */
  #question(message: JSONRPCRequest): void {
    const { id, method, params = {} } = message
    const exchange = this.#callOfServer()
    if (!exchange?.ask || !questionMethods.has(method)) {
      this.onmessage?.(message)
      return
    }
    const send = (outcome: object) =>
      this.#current.run(exchange, () =>
        this.send({ jsonrpc: '2.0', id, ...outcome } as JSONRPCMessage).catch(() => {}),
      )
    exchange.ask({ method, params: params as JsonObject }).then(
      (result) => send({ result }),
      (thrown) => send({ error: { code: -32603, message: Failure.from(thrown).message } }),
    )
  }

  #notification(message: JSONRPCNotification): void {
    const { method, params = {} } = message
    const exchange = this.#callOfServer()
    exchange?.onActivity?.()
    const passes = exchange?.is_listening ? changes.has(method) : method === 'notifications/message'
    if (passes) {
      const { _meta, ...plain } = params
      if (this.#notifying >= maxNotifying || !exchange?.notifyClient) return
      this.#notifying++
      exchange
        .notifyClient(method, plain as JsonObject)
        .catch(() => {})
        .finally(() => {
          this.#notifying--
        })
    }
    this.onmessage?.(message)
  }

  async #request(message: JSONRPCMessage, id: Id, options: SendOptions): Promise<void> {
    const exchange = this.#current.getStore()
    if (!exchange) throw new Failure('internal', 'A request belongs to no call.')
    this.#pending.set(id, exchange)
    // The SDK's first request, which detects the protocol version, has no signal.
    const onAbort = () => this.#fail(id, 'The call is over.')
    exchange.signal.addEventListener('abort', onAbort, { once: true })
    if (typeof id === 'number') this.#highestId = Math.max(this.#highestId, id)
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

function isMalformed({ name }: Error): boolean {
  return name === 'SyntaxError' || name.endsWith('ZodError')
}

function invalid(detail: string): Failure {
  return new Failure('upstream_invalid', detail)
}
