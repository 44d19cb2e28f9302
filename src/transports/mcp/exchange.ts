import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes } from '../../../schemas/failure.ts'
import type { Door } from '../door.ts'
import { isChallenge } from '../http/challenge.ts'
import { requestId } from '../http/identity.ts'
import { failureHeaders, send } from '../http/respond.ts'
import { signalOf } from '../http/rest.ts'
import type { Request } from './message.ts'
import type { McpCaller, Modern } from './modern.ts'

const keepAliveMilliseconds = 15_000

/**
 * Answers one POST (Streamable HTTP): as JSON or, once a notification belongs to it, as server-sent events. Where
 * another token would do, as 401 or 403. A caller who closes the connection cancels, and is told nothing more.
 */
export async function serveExchange(
  door: Pick<Door, 'site'>,
  modern: Modern,
  caller: McpCaller,
  message: Request,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const signal = signalOf(response)
  let stream: Stream | undefined
  const exchange = {
    caller,
    signal,
    challenges: true,
    async notify(method: string, params: object) {
      if (signal.aborted) return
      stream ??= openStream(response)
      await stream.write(JSON.stringify({ jsonrpc: '2.0', method, params }))
    },
  }
  const { status, text, failure } = await modern.answer(message, exchange, request.headers)
  if (signal.aborted) return
  if (stream) stream.end(text)
  else if (failure && isChallenge(failure)) {
    const headers = failureHeaders(door, request, failure, requestId(request))
    send(request, response, codes[failure.code].http, text, { ...headers, ...json })
  } else send(request, response, status, text, json)
}

const json = { 'Content-Type': 'application/json' }

interface Stream {
  /** Resolves when the caller can take more. */
  write(text: string): Promise<void>
  end(text: string): void
}

function openStream(response: ServerResponse): Stream {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
  })
  const beat = setInterval(() => response.write(': keep-alive\n\n'), keepAliveMilliseconds).unref()
  response.once('close', () => clearInterval(beat))
  const eventOf = (text: string) => `event: message\ndata: ${text}\n\n`
  return {
    write(text) {
      if (response.write(eventOf(text))) return Promise.resolve()
      return new Promise((resolve) => {
        response.once('drain', resolve)
        response.once('close', resolve)
      })
    },
    end(text) {
      response.end(eventOf(text))
    },
  }
}
