import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ContentMark } from '../../../schemas/content-mark.ts'
import { type Allowance, type Failure, problem } from '../../../schemas/failure.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { hasBody } from './body.ts'
import { challenge } from './challenge.ts'

/** The path of the page to which the `type` of a problem links, with the code as its fragment. */
export const errorsPath = '/docs/errors'

export type Headers = Record<string, string>

/** Headers of every answer. */
export const fixedHeaders: Headers = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** Sends text or bytes with the headers that every answer has. HEAD gets only the headers. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Headers,
): void {
  if (response.headersSent || response.destroyed) return
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const closing = drains(request) ? {} : { Connection: 'close' }
  const framing = status === 204 || status === 304 ? {} : { 'Content-Length': length }
  response.writeHead(status, { ...fixedHeaders, ...headers, ...closing, ...framing })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Sends parts as the client takes them. An error of theirs ends the connection, so that a client sees a broken answer. */
export async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  parts: AsyncIterable<string>,
  headers: Headers,
): Promise<void> {
  if (response.headersSent || response.destroyed) return
  response.writeHead(200, { ...fixedHeaders, ...headers })
  if (request.method === 'HEAD') return void response.end()
  await pipeline(Readable.from(parts, { objectMode: true, highWaterMark: 1 }), response)
}

const smallBody = 64 * 1024

/** Reads a short unread body, so that the connection can be reused. */
function drains(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return true
  request.resume()
  return Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= smallBody
}

/** Sends a failure as RFC 9457 problem details, with the headers of its status. */
export function sendFailure(
  context: Pick<TransportContext, 'site'>,
  request: IncomingMessage,
  response: ServerResponse,
  failure: Failure,
  id: string,
  headers: Headers = {},
): void {
  const body = problem(failure, id, errorsAt(context))
  send(request, response, body.status, JSON.stringify(body), {
    ...headers,
    ...failureHeaders(context, request, failure, id),
    'Content-Type': 'application/problem+json',
  })
}

/** The address of the page to which the `type` of a problem links. */
export function errorsAt({ site }: Pick<TransportContext, 'site'>): string {
  return `${site().base_url}${errorsPath}`
}

/** A path here as callers see it: behind a proxy the base URL may have a path of its own. */
export function publicPath({ site }: Pick<TransportContext, 'site'>, path: string): string {
  return `${new URL(site().base_url).pathname.replace(/\/$/, '')}${path}`
}

/** The headers that the status of a failure needs, for any body. */
export function failureHeaders(
  context: Pick<TransportContext, 'site'>,
  request: IncomingMessage,
  failure: Failure,
  id: string,
): Headers {
  return {
    ...challenge(context, request, failure),
    ...allowanceHeaders(failure.allowance),
    ...retryHeaders(failure.details),
    'Cache-Control': 'no-store',
    'X-Request-Id': id,
  }
}

/** When a refused request may be repeated. */
export function retryHeaders({ retry_after_s }: { readonly retry_after_s?: number }): Headers {
  return retry_after_s === undefined ? {} : { 'Retry-After': String(retry_after_s) }
}

/** The mark of an output from a third party. */
export function markHeaders(mark: ContentMark | undefined): Headers {
  if (!mark) return {}
  const { content_trust, content_flags } = mark
  return {
    'X-Content-Trust': content_trust,
    ...(content_flags && { 'X-Content-Flags': content_flags.join(', ') }),
  }
}

/** draft-ietf-httpapi-ratelimit-headers-11. */
export function allowanceHeaders(allowance: Allowance | undefined): Headers {
  if (!allowance) return {}
  const { policy, limit, remaining, reset_s } = allowance
  return {
    'RateLimit-Policy': `"${policy}";q=${limit};w=60`,
    RateLimit: `"${policy}";r=${remaining};t=${reset_s}`,
  }
}
