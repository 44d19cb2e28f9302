import type { ServerResponse } from 'node:http'
import { openEvents } from '../http/events.ts'
import type { Headers } from '../http/respond.ts'
import type { StreamEvent } from './tasks/view.ts'

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
 * Sends what is told of a task, at the pace at which the caller takes it. A caller who goes away ends the listening
 * and nothing else.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamEvent>,
  { write, fault, check, keep_alive_ms }: StreamStyle,
  headers: Headers,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]()
  const leave = () => void iterator.return?.()
  if (response.destroyed) return leave()
  response.once('close', leave)
  const stream = openEvents(response, {
    headers,
    check,
    lapsed: leave,
    ...(keep_alive_ms !== undefined && { keep_alive_ms }),
  })
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      await stream.write({ data: write(next.value) })
    }
    stream.end()
  } catch (thrown) {
    const data = fault(thrown)
    stream.end(data === undefined ? undefined : { data: data })
  } finally {
    leave()
  }
}
