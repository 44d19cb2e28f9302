import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { ErrorRequestHandler, Express, RequestHandler } from 'express'
import type { Action, Agent } from '../../../schemas/action.ts'
import { type Details, Failure } from '../../../schemas/failure.ts'
import { nearest } from '../../../schemas/nearest.ts'
import { secretInAddress } from '../shared/secrets.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import { overCost } from './caller.ts'
import type { Etags } from './etag.ts'
import { streams } from './event-answer.ts'
import type { ReadRequest } from './input.ts'
import { prefersHtml } from './prefers-html.ts'
import { requestId } from './request-id.ts'
import { type Headers, send, sendFailure } from './respond.ts'
import { corsHeaders, type Handler, isPublicRead, serve } from './rest.ts'
import type { HttpMethod, Route } from './route.ts'
import { routes } from './routes.ts'

/** One method of one path: a row of the REST table, a document, a health check, or another protocol. */
export interface Mount {
  /** `all` stands for the methods that no other mount of the path takes. */
  readonly method: HttpMethod | 'all'
  readonly path: string
  readonly handler: Handler
  /** Any web page may read the answer. */
  readonly open?: boolean
  /** An exact path whose requests skip Express: the path itself, or a path that it matches. */
  readonly direct?: string
}

/** Every path below a prefix, whatever the method; its requests skip Express. */
export interface Subtree {
  readonly prefix: `/${string}/`
  readonly handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>
}

interface HttpAppOptions {
  /** Ends event streams. */
  readonly ending?: AbortSignal
  readonly subtrees?: readonly Subtree[]
  /** Answers a browser that asks for a path that no mount has. */
  readonly missing?: Handler
}

/**
 * Serves the rows of REST and `others`. Express only matches paths, and is loaded with the first request that it is left;
 * this module handles bodies and answers.
 */
export function createHttpApp(
  context: TransportContext,
  etags: Etags,
  others: readonly Mount[],
  { ending = new AbortController().signal, subtrees = [], missing }: HttpAppOptions = {},
): RequestListener {
  const rows = routes.flatMap((route) => mountsOf(route, context, etags, ending))
  let app: Promise<Express> | undefined
  const find = createFinder(rows, others)
  return (request, response) => {
    const { method = '', url = '' } = request
    const found = find(method, url)
    if (found) {
      const failure = secretInAddress(url)
      if (failure) return sendFailure(context, request, response, failure, requestId(request))
      return void found.mount.handler(Object.assign(request, { params: found.params }), response)
    }
    const subtree = subtrees.find(({ prefix }) => url.startsWith(prefix))
    if (subtree) return void subtree.handler(request, response)
    app ??= createExpress(context, [...rows, ...others], missing)
    app.then(
      (match) => match(request, response),
      (fault) => sendFailure(context, request, response, failureOf(context, fault), requestId(request)),
    )
  }
}

function keyOf(method: string, path: string): string {
  return `${method.toUpperCase()} ${path}`
}

interface FoundMount {
  readonly mount: Mount
  readonly params: Readonly<Record<string, string>>
}

/**
 * Finds the mounts of most requests: the direct ones, and the rows whose paths have at most one parameter, the last
 * part. Express, to which every other spelling of a path is left, would take as long as the registry itself takes for
 * an agent.
 */
function createFinder(
  rows: readonly Mount[],
  others: readonly Mount[],
): (method: string, url: string) => FoundMount | undefined {
  const fixed = new Set(rows.map(({ path }) => path).filter((path) => !path.includes(':')))
  const exact = new Map<string, FoundMount>()
  const byPrefix = new Map<string, { readonly mount: Mount; readonly name: string }>()
  for (const mount of rows) {
    const [, prefix = '', name] = /^([^:]*)(?::(\w+))?$/.exec(mount.path) ?? []
    if (prefix === '') continue
    if (name === undefined) exact.set(keyOf(mount.method, prefix), { mount, params: {} })
    else byPrefix.set(keyOf(mount.method, prefix), { mount, name })
  }
  for (const mount of others)
    if (mount.direct !== undefined) exact.set(keyOf(mount.method, mount.direct), { mount, params: {} })
  return (method, url) => {
    const query = url.indexOf('?')
    const path = query < 0 ? url : url.slice(0, query)
    const found = exact.get(`${method} ${path}`)
    // A fixed path that has no row for the method answers 405.
    if (found || fixed.has(path)) return found
    const end = path.lastIndexOf('/') + 1
    const row = byPrefix.get(`${method} ${path.slice(0, end)}`)
    const value = row && decoded(path.slice(end))
    return value ? { mount: row.mount, params: { [row.name]: value } } : undefined
  }
}

/** Undefined if it is not percent-encoded UTF-8. */
function decoded(part: string): string | undefined {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

async function createExpress(
  context: TransportContext,
  mounts: readonly Mount[],
  missing: Handler | undefined,
): Promise<Express> {
  const { default: express } = await import('express')
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.set('case sensitive routing', true)
  const paths = Map.groupBy(mounts, (mount) => mount.path.replace(/:\w+/g, ':'))
  app.use(refuseSecrets(context))
  for (const path of fixedFirst([...paths.keys()])) mountPath(app, context, paths.get(path) ?? [])
  app.use(notFound(context, mounts, missing))
  app.use(unreadable(context))
  return app
}

/** Clients of A2A write the slash of an agent's name as it is; before a fixed path it needs no encoding. */
const namedDocument = /:\w+(?=\/\.well-known\/)/

function mountsOf(route: Route, context: TransportContext, etags: Etags, ending: AbortSignal): Mount[] {
  const action = actionOf(context.agents, route)
  const { method, path, also = [], events } = route
  const other = events && actionOf(context.agents, { ...route, action: events.action })
  const streaming = other ?? (streams(route, action) ? action : undefined)
  const row = { route, action, ...(streaming && { streaming }) }
  const handler = serve(row, context, etags, ending)
  const open = isPublicRead(route, action)
  return [path, ...also].map((each) => ({
    method,
    path: each.replace(namedDocument, '$&{/:rest}'),
    handler,
    open,
  }))
}

/**
 * Serves all methods of one path, whatever parameter names the rows use; other methods get 405, OPTIONS gets a
 * preflight.
 */
function mountPath(app: Express, context: TransportContext, mounts: readonly Mount[]): void {
  for (const { method, path, handler } of mounts)
    if (method !== 'all') app[method](path, handler as RequestHandler)
  const [first] = mounts
  if (!first) return
  const others = mounts.find(({ method }) => method === 'all')
  if (others) return void app.route(others.path).all(others.handler as RequestHandler)
  const methods = mounts.flatMap(({ method }) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  )
  const allow = [...methods, 'OPTIONS'].sort().join(', ')
  const isOpen = mounts.some((mount) => mount.open)
  // `app.all` would compile the path once for each of some thirty methods.
  app.route(first.path).all(otherMethod(context, allow, isOpen))
}

/** Fixed paths come first, so that `/api/agents/search` is not an agent named `search`; wildcards come last. */
function fixedFirst(paths: readonly string[]): string[] {
  const order = (path: string) => (path.includes('*') ? 2 : path.includes(':') ? 1 : 0)
  return paths.toSorted((a, b) => order(a) - order(b))
}

function actionOf(agents: readonly Agent[], route: Route): Action {
  const agent = agents.find((candidate) => candidate.package_name === route.to)
  const action = agent?.actions.find((candidate) => candidate.name === route.action)
  if (!action) {
    const row = `${route.method.toUpperCase()} ${route.path}`
    throw new Error(`${row} names the action ${route.action}, which ${route.to} does not have.`)
  }
  return action
}

/** CORS preflight for paths that web pages may read; 405 with Allow for other methods (RFC 9110 section 15.5.6). */
function otherMethod(context: TransportContext, allow: string, open: boolean): RequestHandler {
  return (request, response) => {
    const headers: Headers = { Allow: allow, ...(open && corsHeaders) }
    if (request.method === 'OPTIONS') {
      const preflight: Headers = open
        ? {
            'Access-Control-Allow-Methods': allow,
            'Access-Control-Allow-Headers': 'Content-Type, If-None-Match, X-Request-Id',
            'Access-Control-Max-Age': '86400',
          }
        : {}
      send(request, response, 204, '', { ...headers, ...preflight })
      return
    }
    const failure = new Failure(
      'method_not_allowed',
      `${request.path} takes ${allow}, not ${request.method}.`,
    )
    sendFailure(context, request, response, failure, requestId(request), headers)
  }
}

/** A path with a package name whose slash is not encoded, in two parts. */
const belowAgents = /^(\/(?:public|api)\/agents\/[^/]+)\/([^/]+.*)$/

function notFound(
  context: TransportContext,
  mounts: readonly Mount[],
  missing: Handler | undefined,
): RequestHandler {
  return (request, response) => {
    const { method, headers } = request
    if (missing && (method === 'GET' || method === 'HEAD') && prefersHtml(headers.accept))
      return void missing(request as ReadRequest, response)
    const failure =
      overCost(context, request) ??
      new Failure('not_found', `No resource exists at ${request.path}.`, {
        ...whereElse(request.path, mounts),
      })
    sendFailure(context, request, response, failure, requestId(request))
  }
}

/** Addresses that clients guess. */
const guesses: Readonly<Record<string, string>> = {
  '/a2a':
    'A2A is at /a2a/v1, with its card at /a2a/v1/.well-known/agent-card.json. Envelopes go to /a2a/message.',
  '/sse': 'MCP is at /mcp (Streamable HTTP) and /mcp/ws (WebSocket); nothing is served by HTTP+SSE.',
}

function whereElse(path: string, mounts: readonly Mount[]): Pick<Details, 'hint' | 'nearest'> {
  const guess = guesses[path]
  if (guess !== undefined) return { hint: guess }
  const [, agent, rest] = belowAgents.exec(path) ?? []
  if (agent === undefined || rest === undefined)
    return { hint: 'GET / and GET /openapi.json list the resources.' }
  const names = mounts.flatMap(({ path }) => partOfAgent.exec(path)?.[1] ?? [])
  const close = rest.includes('/') ? [] : nearest(rest, new Set(names))
  if (close.length > 0) return { nearest: close.map((name) => `${agent}/${name}`) }
  return {
    hint: `Write the slash of a package name as %2F: ${agent}%2F${rest}. GET /openapi.json lists the resources.`,
  }
}

/** The path of something that belongs to an agent, such as its versions. */
const partOfAgent = /^\/(?:public|api)\/agents\/:\w+\/([a-z-]+)$/

/**
 * A secret in an address is already in logs and histories. The request is refused, and the secret is not repeated.
 */
function refuseSecrets(context: TransportContext): RequestHandler {
  return (request, response, next) => {
    const failure = secretInAddress(request.url)
    if (failure) sendFailure(context, request, response, failure, requestId(request))
    else next()
  }
}

/** Express throws URIError for a path that it cannot decode. Every other error is internal and logged. */
function unreadable(context: TransportContext): ErrorRequestHandler {
  return (fault, request, response, _next) => {
    const undecodable = fault instanceof URIError
    const thrown = undecodable
      ? new Failure('invalid_request', 'The path is not percent-encoded UTF-8.')
      : fault
    sendFailure(context, request, response, failureOf(context, thrown), requestId(request))
  }
}
