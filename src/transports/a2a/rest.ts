import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { Mount } from '../http/app.ts'
import { parseBody } from '../http/body.ts'
import { whileStanding } from '../http/caller.ts'
import { requestId } from '../http/request-id.ts'
import { failureHeaders, send } from '../http/respond.ts'
import type { Handler } from '../http/rest.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { errorOf } from './protocol/error.ts'
import { type Operation, type OperationName, operations } from './protocol/operations.ts'
import {
  agentAt,
  assertCurrent,
  base,
  extensionHeaders,
  pathOf,
  queryOf,
  readCall,
} from './protocol/request.ts'
import type { Answer, Perform } from './service.ts'
import { sendEvents } from './stream.ts'

/**
 * A2A 1.0 section 11: the paths under `/a2a/v1/`, each also with a tenant before it, the name of an agent. The SDK in
 * Java sends JSON-RPC to the path of the agent alone, which `jsonRpc` serves.
 */
export function a2aRestMounts(context: TransportContext, perform: Perform, jsonRpc: Handler): Mount[] {
  async function answer(request: IncomingMessage, response: ServerResponse, id: string): Promise<Answer> {
    const { body, call } = await readCall(context, request, response, id)
    assertCurrent(request)
    const { operation, ...named } = operationOf(request.method, pathOf(request))
    const params = body.length === 0 ? {} : parseBody(body, call.principal)
    if (!isRecord(params)) throw new Failure('invalid_request', 'The body is not a JSON object.')
    return await perform(operation, { ...queryParams(request), ...params, ...named }, call)
  }

  const handler: Handler = async (request, response) => {
    if (request.method === 'POST' && isOfAgent(pathOf(request))) return jsonRpc(request, response)
    const id = requestId(request)
    const headers = { 'X-Request-Id': id, ...extensionHeaders(request), 'Content-Type': mediaType(request) }
    try {
      const answered = await answer(request, response, id)
      if ('json' in answered) send(request, response, 200, answered.json, headers)
      else {
        const style = {
          write: JSON.stringify,
          fault: (thrown: unknown) => void errorOf(context, thrown, id),
          watch: (end: (reason: Failure) => void) => whileStanding(context, request, response, end),
        }
        await sendEvents(response, answered.events, style, headers)
      }
    } catch (thrown) {
      const { http, status, message, details, failure } = errorOf(context, thrown, id)
      const body = JSON.stringify({ error: { code: http, status, message, details } })
      const refused = failure
        ? failureHeaders(context, request, failure, id)
        : { 'Cache-Control': 'no-store' }
      const allow = http === 405 ? { Allow: allowed(pathOf(request)) } : {}
      send(request, response, http, body, { ...headers, ...refused, ...allow })
    }
  }
  return (['get', 'post', 'delete'] as const).map((method) => ({
    method,
    path: `${base}*tail`,
    handler,
    direct: `${base}message:send`,
  }))
}

const fields = [
  'historyLength',
  'contextId',
  'status',
  'pageSize',
  'pageToken',
  'statusTimestampAfter',
] as const

/** The params of a request without a body (section 11.5). */
function queryParams({ url = '', method }: IncomingMessage): Record<string, unknown> {
  if (method !== 'GET') return {}
  const query = queryOf(url)
  const values = fields.flatMap((field) => (query.has(field) ? [[field, query.get(field)]] : []))
  const flag = query.get('includeArtifacts')
  const includeArtifacts = flag === 'true' ? true : flag === 'false' ? false : flag
  return { ...Object.fromEntries(values), ...(flag && { includeArtifacts }) }
}

interface Named {
  /** The operations at the path, one row a verb. */
  readonly rows: readonly Operation[]
  readonly tail: string
  readonly tenant?: string
}

/** The name of the agent before the path of an operation has at most one slash, which need not be encoded. */
function named(path: string): Named {
  const segments = path.slice(base.length).split('/')
  for (const length of [0, 1, 2]) {
    const tail = segments.slice(length).join('/')
    const rows = operations.filter((row) => row.path.test(tail))
    if (rows.length === 0) continue
    return {
      rows,
      tail,
      ...(length > 0 && { tenant: decodeURIComponent(segments.slice(0, length).join('/')) }),
    }
  }
  return { rows: [], tail: '' }
}

/** True for `/a2a/v1/NAME`, where no operation of HTTP+JSON is. */
function isOfAgent(path: string): boolean {
  return agentAt(path) !== undefined && named(path).rows.length === 0
}

function allowed(path: string): string {
  return named(path)
    .rows.map(({ verb }) => verb)
    .sort()
    .join(', ')
}

/** Throws Failure `not_found` and `method_not_allowed`. */
function operationOf(
  method: string | undefined,
  path: string,
): { operation: OperationName; tenant?: string; taskId?: string; id?: string } {
  const { rows, tail, ...tenant } = named(path)
  const row = rows.find(({ verb }) => verb === method)
  if (row) {
    const groups = Object.entries(row.path.exec(tail)?.groups ?? {})
    const ids = groups.map(([name, value]) => [name, decodeURIComponent(value)])
    return { operation: row.name, ...tenant, ...Object.fromEntries(ids) }
  }
  if (rows.length > 0) {
    throw new Failure('method_not_allowed', `${path} takes ${allowed(path)}, not ${method}.`)
  }
  throw new Failure('not_found', `A2A 1.0 defines no operation at ${path}.`, {
    hint: `POST ${base}message:send sends a message, POST ${base}NAME/message:send sends it to the agent NAME. JSON-RPC is taken at ${base.slice(0, -1)}, with the agent as tenant.`,
  })
}

/** A caller that accepts only plain JSON gets that media type. */
function mediaType({ headers }: IncomingMessage): string {
  const { accept = '' } = headers
  return accept.includes('application/json') && !accept.includes('a2a+json')
    ? 'application/json'
    : 'application/a2a+json'
}
