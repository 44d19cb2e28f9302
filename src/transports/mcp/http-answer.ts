import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes, type Failure } from '../../../schemas/failure.ts'
import { whileStanding } from '../http/caller.ts'
import { isChallenge } from '../http/challenge.ts'
import { type EventStream, openEvents } from '../http/events.ts'
import { requestId } from '../http/request-id.ts'
import { failureHeaders, type Headers, send } from '../http/respond.ts'
import { signalOf } from '../http/rest.ts'
import type { TransportContext } from '../shared/transport-context.ts'

/** The answer of one HTTP request of MCP: JSON or, from the first message before it on, server-sent events. */
interface HttpAnswer {
  /** Aborts when the caller closes the connection; after that, nothing is sent. */
  readonly signal: AbortSignal
  /** Sends a message before the answer; resolves when the caller can take more. */
  send(message: object): Promise<void>
  /** Ends with the text of a JSON-RPC response: as 401 or 403 if its failure asks for another token. */
  end(answer: { readonly text: string; readonly failure?: Failure }, status: number, headers?: Headers): void
}

export const json = { 'Content-Type': 'application/json' }

/** `isEndless`: the answer of a subscription, which ends with the right of its caller to listen. */
export function openAnswer(
  context: Pick<TransportContext, 'site' | 'standing'>,
  request: IncomingMessage,
  response: ServerResponse,
  isEndless = false,
): HttpAnswer {
  const signal = signalOf(response)
  let stream: EventStream | undefined
  return {
    signal,
    async send(message) {
      if (signal.aborted) return
      stream ??= isEndless ? openEndless(context, request, response) : openEvents(response)
      await stream.write({ event: 'message', data: JSON.stringify(message) })
    },
    end({ text, failure }, status, headers = {}) {
      if (signal.aborted) return
      if (stream) stream.end({ event: 'message', data: text })
      else if (failure && isChallenge(failure)) {
        const challenge = failureHeaders(context, request, failure, requestId(request))
        send(request, response, codes[failure.code].http, text, { ...challenge, ...json })
      } else send(request, response, status, text, { ...json, ...headers })
    },
  }
}

/** A stream without an end of its own: it closes when its caller may listen no longer, as a socket does. */
export function openEndless(
  context: Pick<TransportContext, 'standing'>,
  request: IncomingMessage,
  response: ServerResponse,
): EventStream {
  const stream = openEvents(response)
  whileStanding(context, request, response, () => response.destroy())
  return stream
}
