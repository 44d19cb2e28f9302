import type { Access } from '../../../../schemas/action.ts'
import { type Code, codes } from '../../../../schemas/failure.ts'
import { streams } from '../event-answer.ts'
import type { Row } from './row.ts'

/** Every answer of a row, by status: its output, 304, and each status of its possible failures. */
export function responsesOf(row: Row, output: unknown, links: object): Record<string, unknown> {
  const { route, action } = row
  const status = route.status ?? 200
  const isCacheable = route.method === 'get' && !route.uncached
  const content = contentOf(row, output)
  const success = {
    description: status === 204 ? 'Done.' : action.title,
    headers: {
      ...common,
      ...allowance,
      ...((isCacheable || route.entry) && etag),
      ...(route.entry && deprecation),
      ...(status === 201 && route.entry && location),
    },
    ...(status !== 204 && { content }),
    ...(Object.keys(links).length > 0 && { links }),
  }
  const unchanged = {
    description: 'The caller has the current representation.',
    headers: { ...common, ...etag },
  }
  const failures = statusesOf(failuresOf(row)).map((code) => [
    code,
    { $ref: `#/components/responses/${code}` },
  ])
  return { [status]: success, ...(isCacheable && { 304: unchanged }), ...Object.fromEntries(failures) }
}

/** The output as JSON, as the text of a file, or as server-sent events. */
function contentOf({ route, action }: Row, output: unknown): Record<string, object> {
  const files = route.texts?.map((type) => [type, { schema: text }] as const)
  return {
    ...(files ? Object.fromEntries(files) : { 'application/json': { schema: output } }),
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

const header = (description: string, schema: object, required = false) => ({ description, required, schema })
const text = { type: 'string' }
const seconds = { type: 'integer', minimum: 0 }
const count = { type: 'integer', minimum: 0 }

const common = { 'X-Request-Id': header('Names the request in the log.', text, true) }
const allowance = {
  RateLimit: header('The remaining calls of the limit (draft-ietf-httpapi-ratelimit-headers).', text),
  'RateLimit-Policy': header('The limit that applies.', text),
}
const etag = { ETag: header('Validates this representation (RFC 9110 section 8.8.3).', text, true) }
const deprecation = {
  Deprecation: header('The time since which nobody should begin to use the agent (RFC 9745).', text),
  Link: header('The agent that replaces it, as successor-version.', text),
}
const location = {
  Location: header('URL of the new entry.', { type: 'string', format: 'uri-reference' }, true),
}
const retryAfter = (required: boolean) => ({
  'Retry-After': header('Seconds to wait before trying again.', seconds, required),
})
const challenge = (required: boolean) => ({
  'WWW-Authenticate': header(
    'The error of the token, or the missing scope (RFC 6750 section 3).',
    text,
    required,
  ),
})
const headersOf: Readonly<Record<number, object>> = {
  401: challenge(true),
  403: challenge(false),
  409: retryAfter(false),
  429: retryAfter(false),
  502: retryAfter(false),
  503: retryAfter(false),
  504: retryAfter(false),
}

/** Problem details (RFC 9457), and a response for each status that failures have. */
export const problemComponents = {
  schemas: {
    Problem: {
      type: 'object',
      description: 'The error, its location, and how to correct it (RFC 9457).',
      required: ['type', 'title', 'status', 'detail', 'code', 'instance', 'retryable'],
      properties: {
        type: text,
        title: text,
        status: { type: 'integer' },
        detail: text,
        code: { enum: Object.keys(codes) },
        instance: text,
        retryable: { type: 'boolean' },
        errors: {
          type: 'array',
          items: {
            type: 'object',
            required: ['pointer', 'detail'],
            properties: { pointer: text, detail: text },
          },
        },
        hint: text,
        nearest: { type: 'array', items: text },
        revision: { type: 'integer', description: 'Current revision of the entry.' },
        quota: {
          type: 'object',
          description: 'The quota that is used up.',
          required: ['quota', 'used', 'limit', 'left'],
          properties: { quota: text, used: count, limit: count, left: count },
        },
      },
    },
  },
  responses: Object.fromEntries(
    statusesOf(Object.keys(codes) as Code[]).map((status) => [
      status,
      {
        description: meaningOf(status),
        headers: { ...common, ...headersOf[status] },
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  ),
}

/** For example `conflict: Conflict with existing data.` */
function meaningOf(status: number): string {
  const matching = Object.entries(codes).filter(([, { http }]) => http === status)
  return matching.map(([code, { title }]) => `${code}: ${title}.`).join(' ')
}
