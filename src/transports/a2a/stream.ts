import type { ServerResponse } from 'node:http'
import type { Failure } from '../../../schemas/failure.ts'
import { openEvents } from '../http/events.ts'
import type { Headers } from '../http/respond.ts'
import type { StreamEvent } from './tasks/view.ts'

/** The form in which a binding writes its events. */
export interface StreamStyle {
  readonly write: (event: StreamEvent) => string
  /** The last event for an error after the stream has begun; undefined means no event. */
  readonly fault: (thrown: unknown) => string | undefined
  /** Calls `end` when the caller is no longer allowed to listen. */
  readonly watch: (end: (reason: Failure) => void) => void
  readonly keep_alive_ms?: number
}

/**
 * Sends the events of a task as fast as the caller reads them. A caller who disconnects ends the stream but not the
 * task.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamEvent>,
  { write, fault, watch, keep_alive_ms }: StreamStyle,
  headers: Headers,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]()
  const leave = () => void iterator.return?.()
  if (response.destroyed) return leave()
  response.once('close', leave)
  const stream = openEvents(response, {
    headers,
    ...(keep_alive_ms !== undefined && { keep_alive_ms }),
  })
  let lapsed: Failure | undefined
  watch((reason) => {
    lapsed = reason
    leave()
  })
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      await stream.write({ data: write(next.value) })
    }
    if (lapsed) throw lapsed
    stream.end()
  } catch (thrown) {
    const data = fault(thrown)
    stream.end(data === undefined ? undefined : { data })
  } finally {
    leave()
  }
}
