import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Action, Update } from '../../../schemas/action.ts'
import type { Envelope } from '../../../schemas/envelope.ts'
import { Failure, problem } from '../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../schemas/json.ts'
import type { Call } from '../../router/call.ts'
import { stringify } from '../shared/stringify.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import { type EventStream, openEvents } from './events.ts'
import { errorsAt, type Headers } from './respond.ts'
import type { Route } from './route.ts'

/** True if a row can answer as server-sent events. */
export function streams({ events }: Route, { part, effect }: Pick<Action, 'part' | 'effect'>): boolean {
  return events !== undefined || part !== undefined || effect === 'call'
}

/** RFC 9110 section 12.5.1, simplified: of the two types, the first one in the header counts. */
export function wantsEvents({ method, headers: { accept = '' } }: IncomingMessage): boolean {
  const [stream, json] = [accept.indexOf('text/event-stream'), accept.indexOf('application/json')]
  return method !== 'HEAD' && stream >= 0 && (json < 0 || stream < json)
}

/** The input field that `Last-Event-ID` fills. */
export function resumption({ events }: Route, { headers }: IncomingMessage): Record<string, unknown> {
  const last = headers['last-event-id']
  if (!events || typeof last !== 'string' || last === '') return {}
  return { [events.after]: /^\d{1,15}$/.test(last) ? Number(last) : last }
}

interface EventAnswer {
  readonly context: TransportContext
  readonly response: ServerResponse
  readonly headers: Headers
  /** Ends endless streams when the gateway stops. */
  readonly ending: AbortSignal
  /** Field of a part that is the id of its event. */
  readonly id_field?: string | undefined
}

/**
 * Answers as server-sent events: `part` and `progress` as they arrive, then `result` or `error`; before a result from a
 * third party `content` with its mark. The stream opens with the first event; an error before that is thrown to the
 * caller of this function.
 */
export async function answerAsEvents(
  { context, response, headers, ending, id_field }: EventAnswer,
  envelope: Envelope,
  call: Call & { readonly id: string },
): Promise<void> {
  let stream: EventStream | undefined
  let isOver = false

  function open(): EventStream {
    stream ??= openEvents(response, {
      headers,
      ...(id_field !== undefined && { retry_ms }),
    })
    return stream
  }

  async function emit(update: Update): Promise<void> {
    if (isOver || call.signal.aborted) return
    if (!('part' in update)) return await open().write({ event: 'progress', data: JSON.stringify(update) })
    const { part } = update
    const id = id_field !== undefined && isRecord(part) ? { id: String(part[id_field]) } : {}
    await open().write({ event: 'part', ...id, data: stringify(part as Json) })
  }

  try {
    const { output, mark } = await context.dispatch(envelope, { ...call, emit, ending })
    const data = stringify(output)
    if (mark) await open().write({ event: 'content', data: JSON.stringify(mark) })
    open().end({ event: 'result', data })
  } catch (thrown) {
    if (!stream) throw thrown
    stream.end({
      event: 'error',
      data: JSON.stringify(problem(failureOf(context, thrown), call.id, errorsAt(context))),
    })
  } finally {
    isOver = true
  }
}

/** Time for which a client waits before it reconnects. */
const retry_ms = 2000

export function stopping(): Failure {
  return new Failure('unavailable', 'The gateway is shutting down.', {
    hint: 'Reconnect with Last-Event-ID.',
  })
}
