import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Headers } from '../http/respond.ts'
import type { StreamEvent } from './tasks/view.ts'

const keepAliveMilliseconds = 15_000

/** How one binding writes its events. */
export interface StreamStyle {
  readonly write: (event: StreamEvent) => string
  /** What is thrown after the stream began; undefined: nothing is said of it. */
  readonly fault: (thrown: unknown) => string | undefined
  /** Throws where the caller may listen no longer; asked at every keep-alive. */
  readonly check: () => Promise<unknown>
  readonly keep_alive_ms?: number
}

/**
 * Server-sent events (WHATWG HTML, section 9.2), at the pace at which the caller takes them, with comments that keep
 * the connection alive. A caller who goes away ends the listening and nothing else.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamEvent>,
  style: StreamStyle,
  headers: Headers,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]()
  if (response.destroyed) return void iterator.return?.()
  const gone = new AbortController()
  response.once('close', () => {
    gone.abort()
    void iterator.return?.()
  })
  response.writeHead(200, {
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-store',
    'X-Accel-Buffering': 'no',
  })
  response.flushHeaders()
  const keepAlive = setInterval(() => {
    style.check().then(
      () => response.writableNeedDrain || response.write(': still here\n\n'),
      () => void iterator.return?.(),
    )
  }, style.keep_alive_ms ?? keepAliveMilliseconds)
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      const hasRoom = response.write(`data: ${style.write(next.value)}\n\n`)
      if (!hasRoom) await once(response, 'drain', { signal: gone.signal })
    }
  } catch (thrown) {
    const fault = gone.signal.aborted ? undefined : style.fault(thrown)
    if (fault !== undefined) response.write(`data: ${fault}\n\n`)
  } finally {
    clearInterval(keepAlive)
    void iterator.return?.()
    response.end()
  }
}
