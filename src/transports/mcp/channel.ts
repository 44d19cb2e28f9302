import { codes } from '../../../schemas/failure.ts'
import { cancelledBy, isRequest, type McpMessage, type McpRequest } from '../../common/mcp/message.ts'
import { costs } from '../../router/limiter.ts'
import type { Task } from '../shared/flow-control.ts'
import { readFrame, refusal, repeated } from './protocol-2026/frame.ts'
import { isModern } from './protocol-2026/headers.ts'
import type { Exchange } from './protocol-2026/protocol.ts'
import { PendingRequests } from './sdk/pending-requests.ts'
import { type ChannelOptions, openSdkSession, type SdkSession } from './sdk/sdk-session.ts'

/**
 * The messages of one connection on which both sides send: a socket, or a pair of pipes. This gateway answers requests
 * of 2026-07-28 itself; all others go to the SDK, which is loaded for them.
 */
export class McpChannel {
  readonly #options: ChannelOptions
  readonly #pending = new PendingRequests()
  /** The SDK allows one protocol version on a connection, so legacy and modern requests have separate sessions. */
  readonly #sessions = new Map<boolean, Promise<SdkSession>>()
  #isClosed = false

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
    if (this.#isClosed) return
    this.#isClosed = true
    this.#pending.cancelAll()
    const { onError } = this.#options
    for (const session of this.#sessions.values()) session.then(({ closed }) => closed(), onError)
  }

  /** The request is pending from here on, so that a cancellation which overtakes it finds it. */
  #prepareRequest(request: McpRequest): () => Promise<void> {
    const { caller, send } = this.#options
    if (this.#pending.has(request.id)) return () => send(repeated(request))
    const failure = caller.overCost?.()
    if (failure) return () => send(refusal(failure, request, codes[failure.code].rpc))
    return this.#options.service.modern.takes(request) ? this.#answer(request) : this.#forward(request)
  }

  #answer(request: McpRequest): () => Promise<void> {
    const { caller, send } = this.#options
    const controller = new AbortController()
    const { signal } = controller
    const done = this.#pending.add(request.id, () => controller.abort())
    const exchange: Exchange = {
      caller,
      signal,
      async notify(method, params) {
        if (!signal.aborted) await send(JSON.stringify({ jsonrpc: '2.0', method, params }))
      },
    }
    return async () => {
      if (!signal.aborted) void this.#reply(request, exchange)
      await done
    }
  }

  async #reply(request: McpRequest, exchange: Exchange): Promise<void> {
    const { service, send } = this.#options
    const { text } = await service.modern.answer(request, exchange)
    if (exchange.signal.aborted) return
    await send(text)
    this.#pending.answered(request.id)
  }

  #forward(request: McpRequest): () => Promise<void> {
    let isSettled = false
    const done = this.#pending.add(request.id).then(() => {
      isSettled = true
    })
    return async () => {
      if (isSettled) return
      this.#options.caller.charge?.(costs.sdkRequest)
      const { receive } = await this.#sessionOf(request)
      receive(request)
      await done
    }
  }

  /**
   * The SDK receives a cancellation only if it may have the request: it would treat a cancellation that comes first as
   * a legacy connection.
   */
  async #notify(message: McpMessage): Promise<void> {
    const cancelled = cancelledBy(message)
    if (cancelled !== undefined && this.#pending.cancel(cancelled)) return
    for (const session of this.#sessions.values()) (await session).receive(message)
  }

  #sessionOf(request: McpRequest): Promise<SdkSession> {
    const era = isModern(request)
    const answered = (id: McpRequest['id']) => this.#pending.answered(id)
    const session = this.#sessions.get(era) ?? openSdkSession({ ...this.#options, answered })
    this.#sessions.set(era, session)
    return session
  }
}
