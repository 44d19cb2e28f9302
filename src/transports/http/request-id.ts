import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const acceptable = /^[A-Za-z0-9._-]{1,64}$/

const made = Symbol('request id')

interface Identified {
  [made]?: string
}

/** The caller's X-Request-Id if it is valid, else a new one for this request. */
export function requestId(request: IncomingMessage & Identified): string {
  const header = request.headers['x-request-id']
  if (typeof header === 'string' && acceptable.test(header)) return header
  request[made] ??= randomUUID()
  return request[made]
}
