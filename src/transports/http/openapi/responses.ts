import type { Access } from '../../../../schemas/action.ts'
import { type Code, codes, codesOf } from '../../../../schemas/failure.ts'
import type { JsonSchema } from '../../../../schemas/json.ts'
import { streams } from '../event-answer.ts'
import { headerRefs, headersOf } from './headers.ts'
import type { Operation } from './part.ts'
import type { Row } from './row.ts'

/** Every answer of a row, by status: its output, 304, and each status of its possible failures. */
export function responsesOf(
  row: Row,
  output: () => unknown,
  links: Readonly<Record<string, unknown>>,
): Operation['responses'] {
  const { route, action, headers = [] } = row
  const status = route.status ?? 200
  const isCacheable = route.method === 'get' && !route.uncached
  const success = {
    description: status === 204 ? 'Done.' : action.title,
    headers: headerRefs(
      'X-Request-Id',
      'RateLimit',
      'RateLimit-Policy',
      ...(isCacheable || route.entry ? (['ETag'] as const) : []),
      ...(route.entry ? (['Deprecation', 'Link'] as const) : []),
      ...(route.location ? (['Location'] as const) : []),
      ...(status === 204 ? [] : (['X-Content-Trust', 'X-Content-Flags'] as const)),
      ...headers,
    ),
    ...(status !== 204 && { content: contentOf(row, output) }),
    ...(Object.keys(links).length > 0 && { links }),
  }
  const unchanged = {
    description: 'The caller has the current representation.',
    headers: headerRefs('X-Request-Id', 'ETag'),
  }
  const failures = statusesOf(failuresOf(row)).map((code) => [code, problemRef(code)])
  return { [status]: success, ...(isCacheable && { 304: unchanged }), ...Object.fromEntries(failures) }
}

/** A reference to the answer of a failure with this status. */
export function problemRef(status: number): { $ref: string } {
  return { $ref: `#/components/responses/${status}` }
}

/** The output as JSON, as the text of a file, or as server-sent events. */
function contentOf({ route, action }: Row, output: () => unknown): Record<string, object> {
  const files = route.texts?.map((type) => [type, { schema: text }] as const)
  return {
    ...(files ? Object.fromEntries(files) : { 'application/json': { schema: output() } }),
    ...(streams(route, action) && { 'text/event-stream': { schema: text } }),
  }
}

/** The possible failures of a row, derived from the row; `fails` adds further ones. */
function failuresOf({ route, action }: Row): Code[] {
  if (action.effect === 'call') return Object.keys(codes) as Code[]
  const isWrite = action.effect === 'write'
  const reachesOutside = isWrite || requiredScope(action.access) === 'a2a:call'
  return [
    'invalid_request',
    'unauthenticated',
    'rate_limited',
    'internal',
    'unavailable',
    'deadline_exceeded',
    ...(isWrite || requiredScope(route.access ?? action.access) ? ['forbidden' as const] : []),
    ...(reachesOutside || route.parameters ? ['not_found' as const] : []),
    ...(reachesOutside ? ['upstream_failed' as const] : []),
    ...(isWrite ? (['conflict', 'quota_exceeded', 'storage_full'] as const) : []),
    ...(route.conditional ? ['precondition_failed' as const] : []),
    ...(route.body ? (['too_large', 'unsupported_media_type'] as const) : []),
    ...(route.fails ?? []),
  ]
}

function requiredScope(access: Access): string | undefined {
  return typeof access === 'object' ? access.scope : access === 'bearer' ? access : undefined
}

/** No caller receives `cancelled`, and `method_not_allowed` belongs to methods without an operation. */
const unanswered = new Set<number>([codes.cancelled.http, codes.method_not_allowed.http])

function statusesOf(failures: readonly Code[]): number[] {
  const statuses = new Set<number>(failures.map((code) => codes[code].http))
  return [...statuses].filter((status) => !unanswered.has(status)).sort((a, b) => a - b)
}

const text = { type: 'string' }

/** A response for each status that failures have. */
export const problemResponses = Object.fromEntries(
  statusesOf(Object.keys(codes) as Code[]).map((status) => [
    status,
    {
      description: meaningOf(status),
      headers: headerRefs('X-Request-Id', ...(headersOf[status] ?? [])),
      content: {
        'application/problem+json': { schema: problemOf(status) },
      },
    },
  ]),
)

/** For example `conflict: Conflict with existing data.` */
function meaningOf(status: number): string {
  return codesOf(status)
    .map((code) => `${code}: ${codes[code].title}.`)
    .join(' ')
}

/** A problem whose code is one of those that have the status. Generators that read no siblings of `$ref` see a Problem. */
function problemOf(status: number): JsonSchema {
  return { $ref: '#/components/schemas/Problem', properties: { code: { enum: codesOf(status) } } }
}
