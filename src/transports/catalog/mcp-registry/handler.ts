import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import { Failure } from '../../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../../schemas/json.ts'
import { registryName } from '../../../../schemas/names.ts'
import type { Subtree } from '../../http/app.ts'
import { readJsonBody } from '../../http/body.ts'
import { identify } from '../../http/caller.ts'
import { matches } from '../../http/etag.ts'
import { requestId } from '../../http/request-id.ts'
import { errorsAt, failureHeaders, fixedHeaders, type Headers, send } from '../../http/respond.ts'
import { signalOf } from '../../http/rest.ts'
import { clientOf } from '../../shared/client-address.ts'
import { Answer, type Written } from '../../shared/coding.ts'
import { secretInAddress } from '../../shared/secrets.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { officialProblem } from './problem.ts'
import { type CatalogRead, readAt, searchAt } from './request.ts'
import { type CatalogWrite, writeAt, writesAt } from './write.ts'

/** Both versions of the API have the same paths and answers. */
const prefixes = ['/v0.1/', '/v0/'] as const

const cors: Headers = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
}
const preflight: Headers = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PATCH, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-None-Match, X-Request-Id',
  'Access-Control-Max-Age': '86400',
}
const read: Headers = {
  'Access-Control-Allow-Origin': '*',
  'Content-Type': 'application/json',
  'Cache-Control': 'public, max-age=30',
  Vary: 'Accept-Encoding',
}

interface CatalogOptions {
  /** Changes whenever an answer may have changed. */
  readonly state: () => string
  /** The version of this gateway. */
  readonly version: string
}

/** The API of the MCP registry, https://registry.modelcontextprotocol.io/openapi.yaml of 2025-12-01. */
export function mcpRegistrySubtrees(
  context: TransportContext,
  { state, version }: CatalogOptions,
): readonly Subtree[] {
  const cache = new AnswerCache()
  const documents = new Map(
    Object.entries({
      health: { status: 'ok' },
      ping: { pong: true },
      version: { version, git_commit: 'unknown', build_time: 'unknown' },
    }).map(([path, document]) => [path, new Answer(JSON.stringify(document))]),
  )

  async function answerOf(question: string, exchange: Exchange): Promise<Answer> {
    const present = state()
    const cached = cache.recall(question, present)
    if (cached) return cached
    const refused = secretInAddress(exchange.request.url)
    if (refused) throw refused
    if (question.includes('%00')) throw new Failure('invalid_request', 'The address holds a NUL.')
    const [path = '', search = ''] = split(question)
    const document = documents.get(path)
    if (document) return document
    const requested = path === searchPath ? searchAt(search) : readAt(path, search)
    if (!requested) throw unserved(path, exchange.request)
    const answer = new Answer(JSON.stringify(await dispatch(requested, exchange)))
    cache.offer(question, present, answer)
    return answer
  }

  async function dispatch(
    { action, params }: Pick<CatalogRead | CatalogWrite, 'action' | 'params'>,
    { request, response, id }: Exchange,
  ) {
    const call = {
      principal: await identify(context, request),
      signal: signalOf(response),
      id,
      client: clientOf(context, request),
    }
    return (await context.dispatch({ to: registryName, action, params }, call)).output
  }

  async function write(question: string, exchange: Exchange): Promise<void> {
    const { request, response, id } = exchange
    const [path] = split(question)
    const body = await readJsonBody(request, await identify(context, request))
    const output = path === 'auth/github-oidc' ? await exchanged(body) : await written(path, body, exchange)
    const headers = { ...cors, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
    send(request, response, 200, JSON.stringify(output), { ...headers, 'X-Request-Id': id })
  }

  async function written(path: string, body: unknown, exchange: Exchange): Promise<Json> {
    const found = writeAt(exchange.request.method ?? '', path, body)
    if (!found) throw unserved(path, exchange.request)
    return found.show(await dispatch(found, exchange))
  }

  /** The token of a trusted issuer, such as that of a workflow on GitHub, is accepted as it is. */
  async function exchanged(body: unknown): Promise<Json> {
    const token = isRecord(body) ? body.oidc_token : undefined
    if (typeof token !== 'string') throw new Failure('invalid_request', 'Give the oidc_token.')
    const { expires_at = 0 } = await context.authenticate(token)
    return { registry_token: token, expires_at }
  }

  /** The methods of a path, as the header `Allow` names them; empty if there is no such path. */
  function allowed(path: string): string {
    const isReadable = documents.has(path) || path === searchPath || readAt(path, '') !== undefined
    const methods = [...(isReadable ? ['GET', 'HEAD'] : []), ...writesAt(path)]
    return methods.length === 0 ? '' : [...methods, 'OPTIONS'].join(', ')
  }

  function unserved(path: string, { method, url = '' }: IncomingMessage): Failure {
    const [address] = split(url)
    const methods = allowed(path)
    if (methods !== '')
      return new Failure('method_not_allowed', `${address} takes ${methods}, not ${method}.`)
    return new Failure('not_found', `No resource exists at ${address}.`, { hint: paths })
  }

  /** RFC 9110 sections 9.3.7 and 15.5.6. */
  function allowHeader(question: string): Headers {
    const methods = allowed(split(question)[0])
    return methods === '' ? {} : { Allow: methods }
  }

  async function handle(question: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = requestId(request)
    try {
      const caller = identify(context, request)
      if (caller instanceof Promise) await caller
      if (request.method === 'OPTIONS')
        return send(request, response, 204, '', { ...allowHeader(question), ...cors, ...preflight })
      if (redirects(question)) return redirect(request, response)
      if (!isRead(request)) return await write(question, { request, response, id })
      const answer = await answerOf(question, { request, response, id })
      sendAnswer(await answer.acceptedBy(request), { request, response, id })
    } catch (thrown) {
      const failure = failureOf(context, thrown)
      const body = officialProblem(failure, id, isRead(request) ? 'query' : 'body', errorsAt(context))
      const allow = failure.code === 'method_not_allowed' ? allowHeader(question) : {}
      const headers = { ...allow, ...cors, ...failureHeaders(context, request, failure, id) }
      const type = { 'Content-Type': 'application/problem+json' }
      send(request, response, body.status, JSON.stringify(body), { ...headers, ...type })
    }
  }

  /** What is cached needs no promise: half of the time of such an answer is Node's own. */
  function answerNow(question: string, request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET' || request.headers.authorization !== undefined) return false
    const written = cache.recall(question, state())?.acceptedBy(request)
    if (written === undefined || written instanceof Promise) return false
    if (isSpecial(request)) return false
    if (context.limits.overCost({ principal: null, client: clientOf(context, request) })) return false
    response.writeHead(200, headersOf(written))
    response.end(written.bytes)
    return true
  }

  return prefixes.map((prefix) => ({
    prefix,
    async handler(request, response) {
      const question = (request.url ?? '').slice(prefix.length)
      if (!answerNow(question, request, response)) await handle(question, request, response)
    },
  }))
}

const special = ['x-request-id', 'if-none-match', 'content-length', 'transfer-encoding'] as const

/** True for a request whose answer depends on more than its address and the accepted codings. */
function isSpecial({ headers }: IncomingMessage): boolean {
  return special.some((name) => headers[name] !== undefined)
}

const preparedHeaders = new WeakMap<Written, string[]>()

/** The headers of a cached answer in the form that costs Node the least. No log line has an id of such an answer. */
function headersOf(written: Written): string[] {
  const prepared = preparedHeaders.get(written)
  if (prepared) return prepared
  const length = String(written.bytes.length)
  const headers = { ...fixedHeaders, ...headersFor(written), 'Content-Length': length }
  const flat = Object.entries(headers).flat()
  preparedHeaders.set(written, flat)
  return flat
}

function headersFor({ etag, coding }: Written): Headers {
  return { ...read, ETag: etag, ...(coding && { 'Content-Encoding': coding }) }
}

function sendAnswer(written: Written, { request, response, id }: Exchange): void {
  const headers = { ...headersFor(written), 'X-Request-Id': id }
  if (matches(request.headers['if-none-match'], written.etag)) send(request, response, 304, '', headers)
  else send(request, response, 200, written.bytes, headers)
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
}

const searchPath = 'x/io.github.dragoman/search'
const paths = 'GET /v0.1/servers lists the servers.'

function split(question: string): [path: string, search: string] {
  const at = question.indexOf('?')
  return at < 0 ? [question, ''] : [question.slice(0, at), question.slice(at + 1)]
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

function redirects(question: string): boolean {
  return split(question)[0].endsWith('/')
}

/** To the same path without slashes at its end; never to another host. */
function redirect(request: IncomingMessage, response: ServerResponse): void {
  const [path, search] = split(request.url ?? '')
  const location = `${path.replace(/\/+$/, '')}${search && `?${search}`}`
  send(request, response, 308, '', { ...cors, Location: location })
}

const maxBytes = 32 * 1024 * 1024
/** Changes of other processes are seen after this time at the latest, in milliseconds. */
const maxAge = 2000

/** The last answers, while the registry stays in the state in which they were made. */
class AnswerCache {
  readonly #answers = new LRUCache<string, { readonly state: string; readonly answer: Answer }>({
    maxSize: maxBytes,
    // The compressed forms are smaller.
    sizeCalculation: ({ answer }, question) => 2 * (answer.plain.bytes.length + question.length) + 500,
    ttl: maxAge,
    // With the standard resolution of a millisecond the cache sets a timer for nearly every request.
    ttlResolution: 100,
  })

  recall(question: string, state: string): Answer | undefined {
    const found = this.#answers.get(question)
    return found?.state === state ? found.answer : undefined
  }

  offer(question: string, state: string, answer: Answer): void {
    this.#answers.set(question, { state, answer })
  }
}
