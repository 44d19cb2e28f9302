import { Failure } from '../../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../../schemas/json.ts'
import { nameIn } from './request.ts'

/** A write of the MCP registry's API, or its validation: the action that answers it, and the form of the answer. */
export interface CatalogWrite {
  readonly action: 'validate_server' | 'publish_server' | 'set_server_status' | 'log_in_by_domain'
  readonly params: Record<string, unknown>
  readonly show: (output: Json) => Json
}

const asItIs = (output: Json) => output

/** The write at a path below `/v0/`, without its query; undefined if there is none. */
export function writeAt(method: string, path: string, body: unknown): CatalogWrite | undefined {
  if (method === 'PATCH') return statusAt(path, recordIn(body))
  if (method !== 'POST') return undefined
  const login = /^auth\/(none|http|dns)$/.exec(path)?.[1]
  if (login !== undefined) return loginWith(login, recordIn(body))
  if (path === 'publish')
    return { action: 'publish_server', params: { server: recordIn(body) }, show: asItIs }
  if (path === 'validate')
    return { action: 'validate_server', params: { server: recordIn(body) }, show: asItIs }
  return undefined
}

/** The methods that change something at a path below `/v0/`, or validate it. */
export function writesAt(path: string): readonly string[] {
  if (/^(?:publish|validate|auth\/(?:none|http|dns|github-oidc))$/.test(path)) return ['POST']
  return path.endsWith('/status') && nameIn(path.slice(0, -'/status'.length)) ? ['PATCH'] : []
}

/** Members that the API does not name are ignored, as at the official registry. */
function loginWith(
  method: string,
  { domain, timestamp, signed_timestamp }: Record<string, unknown>,
): CatalogWrite {
  const stated = method === 'none' ? {} : { domain, timestamp, signed_timestamp }
  return { action: 'log_in_by_domain', params: { method, ...stated }, show: asItIs }
}

function statusAt(
  path: string,
  { status, statusMessage }: Record<string, unknown>,
): CatalogWrite | undefined {
  if (!path.endsWith('/status')) return undefined
  const place = nameIn(path.slice(0, -'/status'.length))
  if (!place) return undefined
  const { name, version } = place
  const message = statusMessage === undefined || statusMessage === null ? {} : { statusMessage }
  const params = { name, ...(version !== undefined && { version }), status, ...message }
  // One version answers as such, all versions as a list.
  const show = (output: Json) =>
    version !== undefined && isRecord(output) && Array.isArray(output.servers)
      ? (output.servers[0] as Json)
      : output
  return { action: 'set_server_status', params, show }
}

function recordIn(body: unknown): Record<string, unknown> {
  if (isRecord(body)) return body
  throw new Failure('invalid_request', 'The body must be a JSON object.')
}
