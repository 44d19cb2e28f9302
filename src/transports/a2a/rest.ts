import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { Door } from '../door.ts'
import type { Mount } from '../http/app.ts'
import { parseJson } from '../http/body.ts'
import { requestId } from '../http/identity.ts'
import { failureHeaders, send } from '../http/respond.ts'
import type { Handler } from '../http/rest.ts'
import { errorOf } from './error.ts'
import { type Operation, operations } from './operations.ts'
import { assertVersion, perform, readCall } from './perform.ts'

const base = '/a2a/v1/'

/** A2A 1.0 section 11: what stands under `/a2a/v1/`, each path also behind a tenant, the name of an agent. */
export function a2aRestMounts(door: Door): Mount[] {
  async function answer(request: IncomingMessage, response: ServerResponse, id: string): Promise<string> {
    const { body, call } = await readCall(door, request, response, id)
    assertVersion(request)
    const { operation, tenant } = operationOf(request.method, pathOf(request))
    const params = body.length === 0 ? {} : parseJson(body)
    if (!isRecord(params)) throw new Failure('invalid_request', 'The body is not a JSON object.')
    return await perform(door, operation, tenant === undefined ? params : { ...params, tenant }, call)
  }

  const handler: Handler = async (request, response) => {
    const id = requestId(request)
    const headers = { 'X-Request-Id': id, 'Content-Type': mediaType(request) }
    try {
      send(request, response, 200, await answer(request, response, id), headers)
    } catch (thrown) {
      const { http, status, message, details, failure } = errorOf(door, thrown, id)
      const body = JSON.stringify({ error: { code: http, status, message, details } })
      const refused = failure ? failureHeaders(door, request, failure, id) : { 'Cache-Control': 'no-store' }
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

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? ''
}

interface Named {
  /** What the path names, one row a verb. */
  readonly rows: readonly Operation[]
  readonly tenant?: string
}

function named(path: string): Named {
  const tail = path.slice(base.length)
  const whole = operations.filter((row) => row.path.test(tail))
  if (whole.length > 0) return { rows: whole }
  const [tenant = '', ...rest] = tail.split('/')
  return {
    rows: operations.filter((row) => row.path.test(rest.join('/'))),
    tenant: decodeURIComponent(tenant),
  }
}

function allowed(path: string): string {
  return named(path)
    .rows.map(({ verb }) => verb)
    .sort()
    .join(', ')
}

/** Throws Failure `not_found` and `method_not_allowed`. */
function operationOf(method: string | undefined, path: string): { operation: Operation; tenant?: string } {
  const { rows, ...tenant } = named(path)
  const operation = rows.find(({ verb }) => verb === method)
  if (operation) return { operation, ...tenant }
  if (rows.length > 0) {
    throw new Failure('method_not_allowed', `${path} takes ${allowed(path)}, not ${method}.`)
  }
  throw new Failure('not_found', `A2A 1.0 has nothing at ${path}.`, {
    hint: `POST ${base}message:send sends a message.`,
  })
}

/** A caller that names plain JSON alone gets it. */
function mediaType({ headers }: IncomingMessage): string {
  const { accept = '' } = headers
  return accept.includes('application/json') && !accept.includes('a2a+json')
    ? 'application/json'
    : 'application/a2a+json'
}
