import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { serve, type TestServer } from '../net/support.ts'

interface Received {
  readonly to: string
  readonly action: string
  readonly params: Record<string, unknown>
  readonly headers: IncomingHttpHeaders
}

export interface EnvelopeAgent extends TestServer {
  readonly url: string
  readonly received: Received[]
}

/** An agent that takes envelopes at `/a2a/message`, as a third party would write it. It echoes by default. */
export async function serveEnvelopes(
  answer: (received: Received, response: ServerResponse) => void | Promise<void> = echo,
): Promise<EnvelopeAgent> {
  const received: Received[] = []
  const server = await serve((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const envelope = { ...JSON.parse(text || '{}'), headers: request.headers }
      received.push(envelope)
      void answer(envelope, response)
    })
  })
  return {
    ...server,
    url: `${server.origin}/a2a/message`,
    received,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function echo({ action, params }: Received, response: ServerResponse): void {
  answerJson(response, { action, params })
}

export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
}
