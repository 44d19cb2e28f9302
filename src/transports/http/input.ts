import type { IncomingMessage } from 'node:http'
import type { Action } from '../../../schemas/action.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { readJsonBody } from './body.ts'
import type { Etags } from './etag.ts'
import { assign, readQuery } from './query.ts'
import type { Route } from './route.ts'

/** A request whose path parameters have been read. */
export type ReadRequest = IncomingMessage & { readonly params: Readonly<Record<string, string | string[]>> }

/** A name in a path; the slash of an agent's name divides it where the path has `:agent{/:rest}`. */
export function nameIn({ rest, ...params }: ReadRequest['params'], name: string): string {
  return `${params[name]}${rest === undefined ? '' : `/${rest}`}`
}

/**
 * The input of a row's action, from defaults, body, query, path and If-Match; later sources take precedence. Throws
 * Failure
 * `invalid_request`, and the errors of reading the body.
 */
export async function readInput(
  route: Route,
  action: Action,
  request: ReadRequest,
  principal: Principal | null,
  etags: Etags,
): Promise<Record<string, unknown>> {
  const body = route.body ? unwrap(route, await readJsonBody(request, principal)) : {}
  const at = request.url?.indexOf('?') ?? -1
  const search = at < 0 ? '' : (request.url ?? '').slice(at + 1)
  const input: Record<string, unknown> = {
    ...route.defaults,
    ...body,
    ...(route.versions && requestedVersion(request)),
    ...readQuery(search, route.query ?? {}, action.input.json),
  }
  for (const [name, field] of Object.entries(route.parameters ?? {})) {
    if (Object.hasOwn(body, field)) throw misplaced(field, 'The path already holds this value.')
    assign(input, [field], nameIn(request.params, name))
  }
  if (route.conditional && Object.hasOwn(body, 'expected_revision')) {
    throw misplaced('expected_revision', 'Over HTTP, send the ETag of the entry in the header If-Match.')
  }
  if (action.idempotency === 'key') {
    if (Object.hasOwn(body, 'idempotency_key'))
      throw misplaced('idempotency_key', 'Over HTTP, send the header Idempotency-Key.')
    const key = request.headers['idempotency-key']
    if (typeof key === 'string') input.idempotency_key = unquoted(key)
  }
  const revision = route.conditional ? requestedRevision(request, etags) : undefined
  if (revision !== undefined) input.expected_revision = revision
  return input
}

/** A key is a string of RFC 9651, in quotes; many clients leave the quotes out. */
function unquoted(key: string): string {
  return /^"(.*)"$/.exec(key.trim())?.[1] ?? key.trim()
}

/** RFC 9110 section 13.1: the revision that must be current; `If-None-Match: *` never holds for an existing entry. */
function requestedRevision({ headers }: IncomingMessage, etags: Etags): number | undefined {
  if (headers['if-none-match']?.trim() === '*') return 0
  const condition = headers['if-match']?.trim()
  return condition === undefined || condition === '*' ? undefined : etags.revision(condition)
}

/** A2A 1.0 section 3.6.1. A client that accepts the media type of A2A cards gets the newest version. */
function requestedVersion({ headers }: IncomingMessage): { a2a_version?: string } {
  const version = headers['a2a-version']
  if (typeof version === 'string') return { a2a_version: version }
  return /\bapplication\/a2a(?:-agent-card)?\+json\b/.test(headers.accept ?? '') ? { a2a_version: '1.0' } : {}
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

function misplaced(field: string, where: string): Failure {
  return new Failure('invalid_request', `/${field}: ${where}`, {
    errors: [{ pointer: `/${field}`, detail: 'Leave it out of the body.' }],
  })
}
