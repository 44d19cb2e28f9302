import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { eventText, type ServerSentEvent } from '../../common/sse.ts'
import type { Headers } from './respond.ts'

export interface EventStream {
  /** Resolves when the caller can take more, or has disconnected. */
  write(event: ServerSentEvent): Promise<void>
  /** Ends the stream, after a last event if it is given. */
  end(last?: ServerSentEvent): void
}

export interface EventStreamOptions {
  readonly headers?: Headers
  readonly keep_alive_ms?: number
  /** Time for which the client should wait before it reconnects, in milliseconds. */
  readonly retry_ms?: number
  /** Maximum time for which written data may stay unread, before the connection is closed. */
  readonly stall_ms?: number
}

const keepAliveMilliseconds = 15_000
const stallMilliseconds = 60_000

/** Begins an answer of server-sent events, with comments as keep-alive. */
export function openEvents(response: ServerResponse, options: EventStreamOptions = {}): EventStream {
  const { headers, retry_ms } = options
  const { keep_alive_ms = keepAliveMilliseconds, stall_ms = stallMilliseconds } = options
  response.writeHead(200, {
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-store, no-transform',
    'X-Accel-Buffering': 'no',
  })
  response.flushHeaders()
  if (retry_ms !== undefined) response.write(`retry: ${retry_ms}\n\n`)
  const beat = setInterval(keepAlive, keep_alive_ms).unref()
  response.once('close', () => clearInterval(beat))

  function keepAlive(): void {
    if (!isOver() && !response.writableNeedDrain) response.write(': still here\n\n')
  }

  const isOver = () => response.destroyed || response.writableEnded

  /**
   * Resolves when the caller has read everything, or has disconnected. A caller that reads nothing for too long is
   * disconnected.
   */
  async function taken(by: 'drain' | 'finish'): Promise<void> {
    const enough = new AbortController()
    const late = setTimeout(() => response.destroy(), stall_ms).unref()
    const { signal } = enough
    await Promise.race([once(response, by, { signal }), once(response, 'close', { signal })]).catch(() => {})
    clearTimeout(late)
    enough.abort()
  }

  return {
    async write(event) {
      if (isOver() || response.write(eventText(event))) return
      await taken('drain')
    },
    end(last) {
      clearInterval(beat)
      if (isOver()) return
      void taken('finish')
      if (last) response.end(eventText(last))
      else response.end()
    },
  }
}
