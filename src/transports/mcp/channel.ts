import { codes, Failure } from '../../../schemas/failure.ts'
import { cancelledBy, isRequest, type McpMessage, type McpRequest } from '../../common/mcp/message.ts'
import type { Task } from '../shared/flow-control.ts'
import type { MessageLimits } from '../shared/message.ts'
import { PendingRequests } from './pending-requests.ts'
import { readFrame, refusal, repeated } from './protocol-2026/frame.ts'
import type { McpCaller } from './protocol-2026/protocol.ts'
import type { McpService } from './service.ts'
import { acknowledgement } from './views/subscriptions.ts'

interface ChannelOptions {
  readonly service: McpService
  readonly caller: McpCaller
  readonly messageLimits: MessageLimits
  /** Resolves when the peer can take more. */
  readonly send: (text: string) => Promise<void>
  readonly onError: (fault: unknown) => void
}

/** Subscriptions of one connection at the same time. */
const maxSubscriptions = 16

/**
 * The messages of one connection on which both sides send: a socket, or a pair of pipes. Each request has its own
 * protocol version; those with `initialize` share one session.
 */
export class McpChannel {
  readonly #options: ChannelOptions
  readonly #pending = new PendingRequests()
  readonly #closed = new AbortController()
  /** The id of the session, which holds what the client can do. */
  #session: string | undefined
  #isListening = false
  #subscriptions = 0

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  /** The work for one text. Notifications are urgent: they need no answer, and may cancel a queued request. */
  prepare(text: string): Task {
    const frame = readFrame(text, this.#options.messageLimits)
    if ('refusal' in frame) return { urgent: false, run: () => this.#options.send(frame.refusal) }
    const { message } = frame
    if (isRequest(message)) return { urgent: false, run: this.#prepareRequest(message) }
    return { urgent: true, run: () => this.#notify(message) }
  }

  /** The connection has closed: cancels the running requests. */
  closed(): void {
    this.#pending.cancelAll()
    this.#closed.abort()
  }

  /** The request is pending from here on, so that a cancellation which overtakes it finds it. */
  #prepareRequest(request: McpRequest): () => Promise<void> {
    const { caller, send } = this.#options
    const { id, method } = request
    if (this.#pending.has(id)) return () => send(repeated(request))
    const failure = caller.overCost?.()
    if (failure) return () => send(refusal(failure, request, codes[failure.code].rpc))
    const isSubscription = method === 'subscriptions/listen'
    if (isSubscription && this.#subscriptions >= maxSubscriptions) return () => send(tooMany(request))
    if (isSubscription) this.#subscriptions++
    const controller = new AbortController()
    const { signal } = controller
    const done = this.#pending.add(id, () => controller.abort())
    return async () => {
      const answering = signal.aborted ? Promise.resolve() : this.#answer(request, signal)
      void answering.finally(() => {
        if (isSubscription) this.#subscriptions--
      })
      await done
    }
  }

  async #answer(request: McpRequest, signal: AbortSignal): Promise<void> {
    const { service, caller } = this.#options
    const notify = async (message: object) => {
      if (signal.aborted) return
      await this.#send(message)
      // The acknowledgement counts as the answer of a subscription; its result comes only at its end.
      if ('method' in message && message.method === acknowledgement) this.#pending.settle(request.id)
    }
    const { text } = service.modern.takes(request)
      ? await service.modern.answer(request, {
          caller,
          signal,
          notify: (method, params) => notify({ jsonrpc: '2.0', method, params }),
        })
      : await this.#take(request, signal, notify)
    if (signal.aborted || text === undefined) return
    await this.#options.send(text)
    this.#pending.answered(request.id)
  }

  async #notify(message: McpMessage): Promise<void> {
    const cancelled = cancelledBy(message)
    if (cancelled !== undefined) return void this.#pending.cancel(cancelled)
    if ('method' in message && message.method === 'notifications/initialized') return this.#listen()
    await this.#take(message, this.#closed.signal, (sent) => this.#send(sent))
  }

  async #take(message: McpMessage, signal: AbortSignal, send: (message: object) => Promise<void>) {
    const { service, caller } = this.#options
    const post = { message, caller, session_id: this.#session, over_http: false, signal, send }
    const answer = await service.legacy.take(post)
    this.#session = answer.session_id ?? this.#session
    return answer
  }

  /** A client of `initialize` gets notifications of changes only once it has sent `initialized`. */
  #listen(): void {
    if (this.#isListening || this.#closed.signal.aborted) return
    this.#isListening = true
    const { service, caller, onError } = this.#options
    const listening = { caller, session_id: this.#session, over_http: false, signal: this.#closed.signal }
    service.legacy.listen({ ...listening, send: (message) => this.#send(message) }).catch(onError)
  }

  #send(message: object): Promise<void> {
    return this.#options.send(JSON.stringify(message))
  }
}

function tooMany(request: McpRequest): string {
  const message = `A connection holds at most ${maxSubscriptions} subscriptions: end one first.`
  return refusal(new Failure('invalid_request', message), request)
}
