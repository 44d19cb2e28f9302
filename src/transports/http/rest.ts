import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Action } from '../../../schemas/action.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../schemas/json.ts'
import { allow } from '../../router/authorise.ts'
import { clientOf } from '../client.ts'
import { authenticated, type Door } from '../door.ts'
import { toPayload } from '../stringify.ts'
import { readJsonBody } from './body.ts'
import { type Etags, matches } from './etag.ts'
import { requestId } from './identity.ts'
import { assign, readQuery } from './query.ts'
import { allowanceHeaders, type Headers, send, sendFailure } from './respond.ts'
import type { Route } from './routes.ts'

export type Handler = (
  request: IncomingMessage & { readonly params: Readonly<Record<string, string | string[]>> },
  response: ServerResponse,
) => Promise<void>

/** Serves one row of the table: reads the input, dispatches, shows the output. */
export function serve(route: Route, action: Action, door: Door, etags: Etags): Handler {
  const open = isPublicRead(route, action)
  const cors: Headers = open ? corsHeaders : {}

  return async (request, response) => {
    const id = requestId(request)
    try {
      const principal = await authenticated(door, request.headers.authorization)
      if (route.access) allow(route.access, principal)
      const params = await readInput(route, action, request, etags)
      const signal = signalOf(response)
      const client = clientOf(door, request)
      const reply = await door.dispatch(
        { to: route.to, action: route.action, params },
        { principal, signal, id, client },
      )
      const headers: Headers = { ...cors, ...allowanceHeaders(reply.allowance), 'X-Request-Id': id }
      const etag = route.entry
        ? etags.ofEntry(reply.output, principal)
        : etags.ofRegistry(route.method === 'get' ? reply.revision : undefined, principal)
      if (etag) headers.ETag = etag
      if (route.method === 'get') {
        headers['Cache-Control'] = principal ? 'private, no-cache' : 'public, no-cache'
        headers.Vary = 'Authorization'
        if (matches(request.headers['if-none-match'], etag)) {
          send(request, response, 304, '', headers)
          return
        }
      }
      answer(route, reply.output, headers, request, response)
    } catch (thrown) {
      if (!(thrown instanceof Failure)) door.failed(thrown)
      sendFailure(request, response, thrown instanceof Failure ? asAsked(route, thrown) : thrown, id, cors)
    }
  }
}

/** Pointers name what the caller wrote: the query parameter, not the field that it fills. */
function asAsked({ query = {} }: Route, failure: Failure): Failure {
  const names = new Map(
    Object.entries(query).map(([name, field]) => [`/${field.replaceAll('.', '/')}`, `/${name}`]),
  )
  const errors = failure.details.errors?.map((error) => ({
    ...error,
    pointer: names.get(error.pointer) ?? error.pointer,
  }))
  return errors
    ? new Failure(failure.code, failure.message, { ...failure.details, errors }, failure.cause)
    : failure
}

function answer(
  route: Route,
  output: Json,
  headers: Headers,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const status = route.status ?? 200
  if (status === 204) {
    send(request, response, 204, '', headers)
    return
  }
  const shown = route.show ? route.show(output) : { body: output }
  if (shown.location !== undefined) headers.Location = shown.location
  headers['Content-Type'] = 'application/json'
  send(request, response, status, toPayload(shown.body), headers)
}

async function readInput(
  route: Route,
  action: Action,
  request: Parameters<Handler>[0],
  etags: Etags,
): Promise<Record<string, unknown>> {
  const body = route.body ? unwrap(route, await readJsonBody(request)) : {}
  const at = request.url?.indexOf('?') ?? -1
  const search = at < 0 ? '' : (request.url ?? '').slice(at + 1)
  const input: Record<string, unknown> = {
    ...route.defaults,
    ...body,
    ...readQuery(search, route.query ?? {}, action.input.json),
  }
  for (const [name, field] of Object.entries(route.parameters ?? {})) {
    if (Object.hasOwn(body, field)) throw misplaced(field)
    assign(input, [field], String(request.params[name]))
  }
  const condition = request.headers['if-match']
  if (route.conditional && condition !== undefined && condition !== '*') {
    input.expected_revision = etags.revision(condition)
  }
  return input
}

function unwrap(route: Route, body: unknown): Record<string, unknown> {
  if (!isRecord(body)) {
    throw new Failure('invalid_request', 'The body is not a JSON object.', {
      errors: [{ pointer: '', detail: 'Send an object.' }],
    })
  }
  if (route.body !== 'input') return body
  const { input, ...rest } = body
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) {
    throw new Failure('invalid_request', `/${unknown}: There is no such field.`, {
      errors: [{ pointer: `/${unknown}`, detail: 'There is no such field.' }],
      hint: 'The body is {"input": {…}}.',
    })
  }
  if (isRecord(input)) return input
  throw new Failure('invalid_request', 'The body needs the object input.', {
    errors: [
      { pointer: '/input', detail: input === undefined ? 'This field is required.' : 'Send an object.' },
    ],
  })
}

function misplaced(field: string): Failure {
  return new Failure('invalid_request', `/${field}: The path says that already.`, {
    errors: [{ pointer: `/${field}`, detail: 'Leave it out of the body.' }],
  })
}

/** Aborts when the caller goes away before its answer. */
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
    'ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id',
}

/** What any web page may read: public reads, without credentials. */
export function isPublicRead(route: Route, action: Action): boolean {
  return route.access === undefined && action.access === 'public' && action.effect === 'read'
}
