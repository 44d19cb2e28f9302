import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes } from '../../../../schemas/failure.ts'
import type { Call } from '../../../router/call.ts'
import { costs } from '../../../router/limiter.ts'
import type { Mount } from '../../http/app.ts'
import { hasBody, readJsonBody } from '../../http/body.ts'
import { identify } from '../../http/caller.ts'
import { sendCoded, sendNotModified } from '../../http/coded.ts'
import { catalogLink, documentMount } from '../../http/document.ts'
import type { ReadRequest } from '../../http/input.ts'
import { requestId } from '../../http/request-id.ts'
import { failureHeaders, type Headers, send } from '../../http/respond.ts'
import { corsHeaders, signalOf } from '../../http/rest.ts'
import { clientOf } from '../../shared/client-address.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { categoryDocument, manifest, robots } from './documents.ts'
import { type ArdContext, explore, list, lookUp, search } from './registry.ts'

/** One endpoint: what it answers, from the body of a POST or the address of a GET. */
interface Endpoint {
  readonly method: 'get' | 'post'
  readonly path: string
  readonly answer: (request: ReadRequest, body: unknown, call: Call) => Promise<object>
  readonly type?: string
}

const maxAge_s = 60

/** ARD 0.91 under `/ard`, its catalogs under `/.well-known`, and `robots.txt`. Each is a view of the registry agent. */
export function ardMounts(context: ArdContext): Mount[] {
  const document = (path: string, type: string) =>
    ({
      method: 'get',
      path,
      type,
      answer: (_request, _body, call) => manifest(context, call),
    }) as const satisfies Endpoint
  const endpoints: Endpoint[] = [
    document('/.well-known/ard.json', 'application/json'),
    document('/.well-known/ai-catalog.json', 'application/ai-catalog+json'),
    {
      method: 'get',
      path: '/ard/catalogs/:category',
      type: 'application/ai-catalog+json',
      answer: ({ params }, _body, call) => categoryDocument(context, String(params.category), call),
    },
    { method: 'post', path: '/ard/search', answer: (_request, body, call) => search(context, body, call) },
    { method: 'post', path: '/ard/explore', answer: (_request, body, call) => explore(context, body, call) },
    {
      method: 'get',
      path: '/ard/agents',
      answer: (request, _body, call) => list(context, queryOf(request), call),
    },
    {
      method: 'get',
      path: '/ard/agents/:identifier',
      answer: ({ params }, _body, call) => lookUp(context, String(params.identifier), call),
    },
  ]
  return [
    documentMount(context, { path: '/robots.txt', type: 'text/plain; charset=utf-8', render: robots }),
    ...endpoints.map((endpoint) => mountOf(context, endpoint)),
  ]
}

function mountOf(context: ArdContext, { method, path, type = 'application/json', answer }: Endpoint): Mount {
  return {
    method,
    path,
    open: true,
    async handler(request, response) {
      const id = requestId(request)
      try {
        const early = await identify(context, request)
        const body = method === 'post' ? await readJsonBody(request, early) : undefined
        const principal = hasBody(request) ? await identify(context, request) : early
        const client = clientOf(context, request)
        const answered = await answer(request, body, { principal, signal: signalOf(response), id, client })
        const text = JSON.stringify(answered)
        const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 16)}"`
        const headers: Headers = {
          ...corsHeaders,
          Link: catalogLink(context.site()),
          'X-Request-Id': id,
          'Content-Type': type,
          ...(method === 'get' && {
            ETag: etag,
            'Cache-Control': `${principal ? 'private' : 'public'}, max-age=${maxAge_s}`,
            Vary: 'Authorization',
          }),
        }
        if (method === 'get' && sendNotModified(request, response, headers)) return
        const charge = (bytes: number) =>
          context.limits.charge({ principal, client }, bytes * costs.compressedByte)
        await sendCoded(request, response, 200, text, headers, charge)
      } catch (thrown) {
        refuse(context, request, response, thrown, id)
      }
    },
  }
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
}

const errorCodes: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RATE_LIMIT_EXCEEDED',
}

/** Sends an error of ARD 0.91: `{errorCode, message}` under the status of the failure. */
function refuse(
  context: Pick<TransportContext, 'site' | 'onError'>,
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
  id: string,
): void {
  const failure = failureOf(context, thrown)
  const status = codes[failure.code].http
  const errorCode = errorCodes[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL_ERROR')
  const { hint } = failure.details
  const text = hint ? `${failure.message} ${hint}` : failure.message
  const message = text.replace(/\bcursor\b/, 'pageToken')
  send(request, response, status, JSON.stringify({ errorCode, message }), {
    ...corsHeaders,
    ...failureHeaders(context, request, failure, id),
    'Content-Type': 'application/json',
  })
}
