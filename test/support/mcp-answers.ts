import type { IncomingMessage, ServerResponse } from 'node:http'

/** A server that answers with `misbehave`, by the path or as one listener; `body` is the parsed message. */
export type Misbehave = (
  request: IncomingMessage,
  response: ServerResponse,
  // biome-ignore lint/suspicious/noExplicitAny: messages are looked into freely
  body: any,
) => unknown

/** The answer to a JSON-RPC request as plain JSON. */
export function answerJson(response: ServerResponse, body: { id?: unknown }, rest: object): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, ...rest }))
}

/** The answer of a 2026-07-28 server to `server/discover`. */
export const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 60_000,
  cacheScope: 'public',
}

/** The headers of a stream of server-sent events, and one event. */
export const events = { 'content-type': 'text/event-stream' }
export const event = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

/** The empty result of a tool in 2026-07-28. */
export const nothing = { resultType: 'complete', content: [] }

/** A server of 2026-07-28 that is correct until a tool is called. */
export const untilCalled =
  (misbehave: Misbehave): Misbehave =>
  (request, response, body) =>
    body?.method === 'server/discover'
      ? answerJson(response, body, { result: discovered })
      : misbehave(request, response, body)

/** The answer of a legacy server (before 2026-07-28) to `initialize`. */
export const begun = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'hand-made', version: '1' },
}
