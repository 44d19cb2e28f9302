import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../../schemas/failure.ts'
import type { Current, McpExchange } from './exchange.ts'

/** Time for which a session waits for its stream, in milliseconds. */
const opening_ms = 1_000
/** A stream that ends sooner than this is not opened again, in milliseconds. */
const shortest_ms = 10_000
/** Lines of one opening: no call pays for what the server says between calls, and each line takes time, however short. */
const maxLines = 20_000

/**
 * The stream of a session on which the server sends what it ties to no call (2025-11-25, Listening for Messages). The
 * SDKs of servers (Python, and TypeScript v1) ask their client there, unless the author of a tool names the call. It
 * belongs to no call either, so no end of it and no error on it ends one.
 */
export class SessionStream {
  /** In place of the call that opens the session, which the stream outlives. */
  readonly exchange: McpExchange
  readonly #current: Current
  readonly #clock: () => number
  readonly #over = new AbortController()
  readonly #answered = Promise.withResolvers<void>()
  #openedAt = Number.NEGATIVE_INFINITY

  constructor({ headers, capabilities, announce }: McpExchange, current: Current, clock: () => number) {
    this.exchange = { headers, capabilities, signal: this.#over.signal, ...(announce && { announce }) }
    this.#current = current
    this.#clock = clock
  }

  /** The requests of the session by this fetch; a stream that the server refuses is one that it does not have. */
  through(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      const isStream = init?.method === 'GET' && this.#current.getStore() === this.exchange
      if (!isStream) return await fetch(input, init)
      const now = this.#clock()
      const hasSession = new Headers(init.headers).has('mcp-session-id')
      if (!hasSession || now - this.#openedAt < shortest_ms) return notOffered()
      this.#openedAt = now
      const answer = await fetch(input, init).catch(notOffered)
      this.#answered.resolve()
      if (answer.ok) return new Response(answer.body?.pipeThrough(limited()), answer)
      await answer.body?.cancel()
      return notOffered()
    }
  }

  /** Resolves once the server has answered for the stream, so that it can ask in the first call; waits a moment only. */
  async opened(signal: AbortSignal): Promise<void> {
    // The SDK asks for the stream some microtasks after the session is open.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#openedAt === Number.NEGATIVE_INFINITY) return
    await Promise.race([this.#answered.promise, pause(opening_ms, undefined, { signal, ref: false })])
  }

  end(): void {
    this.#over.abort()
  }
}

function limited(): TransformStream<Uint8Array, Uint8Array> {
  let lines = 0
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) if (byte === 10 || byte === 13) lines++
      if (lines <= maxLines) return controller.enqueue(chunk)
      controller.error(
        new Failure('upstream_invalid', `The stream of a session has more than ${maxLines} lines.`),
      )
    },
  })
}

function notOffered(): Response {
  return new Response(null, { status: 405 })
}
