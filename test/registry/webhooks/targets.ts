import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { serve } from '../../net/support.ts'

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A target server for webhooks, and its answer for each path; 204 by default. */
export async function serveTargets() {
  const received: Received[] = []
  const answers = new Map<string, (response: ServerResponse) => void>()
  const server = await serve((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const path = request.url ?? ''
      received.push({ path, headers: request.headers, body })
      const answer = answers.get(path)
      if (answer) answer(response)
      else response.writeHead(204).end()
    })
  })
  return {
    url: server.origin,
    received,
    answers,
    /** Revisions that came to a path, in the order in which they came. */
    revisions: (path: string): number[] =>
      received
        .filter((item) => item.path === path)
        .flatMap(({ body }) => JSON.parse(body).data.changes)
        .map(({ revision }) => revision),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
export type Targets = Awaited<ReturnType<typeof serveTargets>>
