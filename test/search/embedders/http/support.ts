import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createSafeFetch } from '../../../../src/net/fetch/safe-fetch.ts'
import {
  createHttpEmbedder,
  type HttpEmbedderOptions,
} from '../../../../src/search/embedders/http/http-embedder.ts'
import { serve } from '../../../net/support.ts'

interface EndpointRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: {
    readonly model: string
    readonly input: readonly string[]
    readonly encoding_format: string
    readonly dimensions?: number
  }
}

/** Answers one request, or drops its connection. */
export type Reply = (response: ServerResponse, request: EndpointRequest) => unknown

/** The embedding of a text here: its length, a constant, and its first character. */
export const meaning = (text: string): number[] => [text.length, 1, text.charCodeAt(0)]

export function unit(values: readonly number[]): Float32Array {
  const norm = Math.hypot(...values)
  return Float32Array.from(values, (value) => value / norm)
}

export const rows = (input: readonly string[]) =>
  input.map((text, index) => ({ object: 'embedding', index, embedding: meaning(text) }))

export const json = (body: unknown) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

export const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(code, headers).end('{"error":{"message":"Incorrect API key provided: sk-secret"}}')

export const right: Reply = (response, { body }) => json({ data: rows(body.input) })(response)

/** An embeddings endpoint on loopback: one given reply a request, and correct answers after the last. */
export async function startEndpoint(...replies: Reply[]) {
  const requests: EndpointRequest[] = []
  const server = await serve(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const question = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text) }
    requests.push(question)
    const reply = replies.shift() ?? right
    reply(response, question)
  })
  const guard = createSafeFetch({ user_agent: 'test', allow_origins: [server.origin] })
  const pauses: number[] = []
  /** The embedder of the endpoint; pauses take no time and are recorded. */
  const create = (options: Partial<HttpEmbedderOptions> = {}) =>
    createHttpEmbedder({
      url: `${server.origin}/v1`,
      model: 'tiny',
      fetch: guard.fetch,
      pause: async (milliseconds) => pauses.push(milliseconds),
      random: () => 0,
      ...options,
    })
  return {
    origin: server.origin,
    fetch: guard.fetch,
    requests,
    pauses,
    create,
    async [Symbol.asyncDispose]() {
      await guard[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
