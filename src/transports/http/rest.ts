import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Action } from '../../../schemas/action.ts'
import type { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../schemas/json.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { allow } from '../../router/authorise.ts'
import type { Reply } from '../../router/call.ts'
import { clientOf } from '../shared/client-address.ts'
import { toPayload } from '../shared/stringify.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import { hasBody } from './body.ts'
import { identify } from './caller.ts'
import { bodySender, type SendBody, sendNotModified } from './coded.ts'
import { deprecationHeaders } from './deprecation.ts'
import { type Etags, storedTag } from './etag.ts'
import { answerAsEvents, resumption, wantsEvents } from './event-answer.ts'
import { restated, withCondition, withOperations } from './hint.ts'
import { type ReadRequest, readInput } from './input.ts'
import { requestId } from './request-id.ts'
import { allowanceHeaders, type Headers, markHeaders, publicPath, send, sendFailure } from './respond.ts'
import type { Route } from './route.ts'

export type Handler = (request: ReadRequest, response: ServerResponse) => Promise<void>

/** A2A 1.0 section 8.6 asks for a max-age on cards; these cards must be revalidated each time. */
const cardAge = 'max-age=0, must-revalidate'

interface Served {
  readonly route: Route
  readonly action: Action
  /** The action that answers requests with `Accept: text/event-stream`. */
  readonly streaming?: Action
}

/** Serves one row of the table: reads the input, dispatches, sends the output; `ending` ends streams. */
export function serve(
  { route, action, streaming }: Served,
  context: TransportContext,
  etags: Etags,
  ending: AbortSignal,
): Handler {
  const open = isPublicRead(route, action)
  const cors: Headers = open ? corsHeaders : {}
  const lastModified = createLastModified()

  return async (request, response) => {
    const id = requestId(request)
    try {
      const early = await identify(context, request)
      if (route.access) allow(route.access, early)
      const params = await readInput(route, action, request, early, etags)
      const principal = hasBody(request) ? await identify(context, request) : early
      const signal = signalOf(response)
      const client = clientOf(context, request)
      const call = { principal, signal, id, client }
      if (streaming && wantsEvents(request)) {
        const envelope = {
          to: route.to,
          action: streaming.name,
          params: { ...params, ...resumption(route, request) },
        }
        const headers = { ...cors, 'X-Request-Id': id }
        const id_field = route.events?.id
        await answerAsEvents({ context, response, headers, ending, id_field }, envelope, call)
        return
      }
      const variant = route.versions ? variantOf(params) : etags.listVariant()
      const reply = await context.dispatch({ to: route.to, action: route.action, params }, call)
      const headers: Headers = {
        ...cors,
        ...allowanceHeaders(reply.allowance),
        ...markHeaders(reply.mark),
        'X-Request-Id': id,
      }
      const etag = etagOf(route, variant, reply, principal, etags)
      if (etag) headers.ETag = etag
      if (route.entry && isRecord(reply.output))
        Object.assign(headers, deprecationHeaders(context, reply.output.deprecated))
      if (route.uncached) headers['Cache-Control'] = 'no-store'
      else if (route.method === 'get') {
        headers['Cache-Control'] =
          `${principal ? 'private' : 'public'}, ${route.versions ? cardAge : 'no-cache'}`
        headers.Vary = route.versions ? 'Authorization, A2A-Version, Accept' : 'Authorization'
        if (route.versions && etag) headers['Last-Modified'] = lastModified(etag)
        if (sendNotModified(request, response, headers)) return
      }
      const sendBody = bodySender(context, { principal, client }, action.secret)
      if (route.location !== undefined && isRecord(reply.output))
        headers.Location = publicPath(context, `${route.location}/${reply.output.id}`)
      await answer(route, reply.output, headers, request, response, sendBody)
    } catch (thrown) {
      const failure = withQueryNames(route, withCondition(failureOf(context, thrown), request))
      sendFailure(context, request, response, withOperations(failure), id, cors)
    }
  }
}

function etagOf(
  { entry, method, uncached }: Route,
  variant: string,
  { output, revision }: Reply,
  principal: Principal | null,
  etags: Etags,
): string | undefined {
  if (uncached) return undefined
  if (entry) return etags.ofEntry(output, principal)
  const shown = `${storedTag(output, principal)}${variant}`
  return etags.ofRegistry(method === 'get' ? revision : undefined, principal, shown)
}

/** The variant of a card, by the version that `get_card` renders. */
function variantOf({ a2a_version }: Record<string, unknown>): string {
  if (a2a_version === undefined) return 'r'
  return String(a2a_version).startsWith('1.0') ? 's' : 'l'
}

/** The pointer with the name of its query parameter: `/filters/tags/0` becomes `/tags/0`. */
function named(pointer: string, names: ReadonlyMap<string, string>): string {
  const field = [...names.keys()].find((key) => pointer === key || pointer.startsWith(`${key}/`))
  return field === undefined ? pointer : `${names.get(field)}${pointer.slice(field.length)}`
}

/** Replaces pointers to input fields by the query parameters that the caller sent. */
function withQueryNames({ query = {} }: Route, failure: Failure): Failure {
  const names = new Map(
    Object.entries(query).map(([name, field]) => [`/${field.replaceAll('.', '/')}`, `/${name}`]),
  )
  const [first] = failure.details.errors ?? []
  const errors = failure.details.errors?.map((error) => ({ ...error, pointer: named(error.pointer, names) }))
  if (!first || !errors) return failure
  const { message } = failure
  const detail = message.startsWith(`${first.pointer}:`)
    ? `${named(first.pointer, names)}${message.slice(first.pointer.length)}`
    : message
  return restated(failure, { message: detail, errors })
}

function answer(
  route: Route,
  output: Json,
  headers: Headers,
  request: IncomingMessage,
  response: ServerResponse,
  sendBody: SendBody,
): void | Promise<void> {
  const status = route.status ?? 200
  if (status === 204) {
    send(request, response, 204, '', headers)
    return
  }
  const shown = route.show ? route.show(output) : { body: output }
  if ('text' in shown) {
    headers['Content-Type'] = `${shown.media_type}; charset=utf-8`
    headers['Content-Disposition'] = `attachment; filename="${shown.filename}"`
    return sendBody(request, response, status, shown.text, headers)
  }
  headers['Content-Type'] = 'application/json'
  return sendBody(request, response, status, toPayload(shown.body), headers)
}

/** Aborts when the caller disconnects before the answer is sent. */
export function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}

export const corsHeaders: Headers = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Deprecation, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id',
}

/** True for reads that any web page may make: public, without credentials. */
export function isPublicRead(route: Route, action: Action): boolean {
  return route.access === undefined && action.access === 'public' && action.effect === 'read'
}

const remembered = 100

/**
 * The time when a representation, identified by its validator, was first sent: no earlier than its creation (RFC 9110
 * section 8.8.2).
 */
function createLastModified(): (etag: string) => string {
  const first = new LRUCache<string, string>({ max: remembered })
  return (etag) => {
    const date = first.get(etag) ?? new Date().toUTCString()
    first.set(etag, date)
    return date
  }
}
