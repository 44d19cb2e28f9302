import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A target server for webhooks, and its answer for each path; 204 by default. */
export async function serveTargets() {
  const received: Received[] = []
  const answers = new Map<string, (response: ServerResponse) => void>()
  const server = createServer((request, response) => {
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    received,
    answers,
    /** Revisions that came to a path, in the order in which they came. */
    revisions: (path: string): number[] =>
      received
        .filter((item) => item.path === path)
        .flatMap(({ body }) => JSON.parse(body).data.changes)
        .map(({ revision }) => revision),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
export type Targets = Awaited<ReturnType<typeof serveTargets>>
