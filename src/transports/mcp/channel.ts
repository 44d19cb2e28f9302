import { cancelledBy, isRequest, type Message, type Request } from '../../common/mcp/message.ts'
import { readFrame, repeated } from './protocol-2026/frame.ts'
import { isModern } from './protocol-2026/headers.ts'
import type { McpCaller } from './protocol-2026/protocol.ts'
import { createAsked } from './sdk/in-flight.ts'
import { openRest, type Rest } from './sdk/sdk-session.ts'
import type { McpService } from './service.ts'

export interface ChannelOptions {
  readonly service: McpService
  readonly caller: McpCaller
  /** Resolves when the peer can take more. */
  readonly send: (text: string) => Promise<void>
  /** Ends the connection. */
  readonly close: () => void
  readonly onError: (fault: unknown) => void
}

/** One connection on which both sides send messages: a socket, or a pair of pipes. */
export interface Channel {
  /** What one text asks for. An urgent one does not wait behind others: it asks for nothing, or cancels. */
  prepare(text: string): { readonly urgent: boolean; run(): Promise<void> }
  /** Resolves once nothing waits for its answer. */
  idle(): Promise<void>
  /** The connection has closed: whatever runs is cancelled. */
  closed(): void
}

/** Requests of the modern era are answered here; what else comes goes to the SDK, which is loaded for it. */
export function createChannel({ service, caller, send, close, onError }: ChannelOptions): Channel {
  const { modern } = service
  const asked = createAsked()
  /** The SDK pins one era on a connection, so each era has one of its own. */
  const rests = new Map<boolean, Promise<Rest>>()
  let over = false

  function restOf(request: Request): Promise<Rest> {
    const era = isModern(request)
    const rest =
      rests.get(era) ?? openRest({ service, caller, send, close, onError, answered: asked.answered })
    rests.set(era, rest)
    return rest
  }

  /** From here on the request is asked, so that a cancellation which passes it finds it. */
  function ask(request: Request): () => Promise<void> {
    if (asked.has(request.id)) return () => send(repeated(request))
    return modern.takes(request) ? answer(request) : pass(request)
  }

  function answer(request: Request): () => Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    const done = asked.wait(request.id, () => controller.abort())
    const exchange = {
      caller,
      signal,
      async notify(method: string, params: object) {
        if (!signal.aborted) await send(JSON.stringify({ jsonrpc: '2.0', method, params }))
      },
    }
    return async () => {
      if (!signal.aborted) void reply(request, exchange)
      await done
    }
  }

  function pass(request: Request): () => Promise<void> {
    let gone = false
    const done = asked.wait(request.id).then(() => {
      gone = true
    })
    return async () => {
      if (gone) return
      const { receive } = await restOf(request)
      receive(request)
      await done
    }
  }

  async function reply(request: Request, exchange: Parameters<typeof modern.answer>[1]): Promise<void> {
    const { text } = await modern.answer(request, exchange)
    if (exchange.signal.aborted) return
    await send(text)
    asked.answered(request.id)
  }

  /** The SDK hears of a cancellation only where it may have the request: to one who opens with it, it is 2025. */
  async function heed(message: Message): Promise<void> {
    const cancelled = cancelledBy(message)
    if (cancelled !== undefined && asked.cancel(cancelled)) return
    for (const rest of rests.values()) (await rest).receive(message)
  }

  return {
    prepare(text) {
      const frame = readFrame(text)
      if ('refusal' in frame) return { urgent: false, run: () => send(frame.refusal) }
      const { message } = frame
      if (isRequest(message)) return { urgent: false, run: ask(message) }
      return { urgent: true, run: () => heed(message) }
    },
    idle: asked.idle,
    closed() {
      if (over) return
      over = true
      asked.clear()
      for (const rest of rests.values()) rest.then(({ closed }) => closed(), onError)
    },
  }
}
