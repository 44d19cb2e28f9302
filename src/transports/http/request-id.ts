import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const acceptable = /^[A-Za-z0-9._-]{1,64}$/

/** The caller's X-Request-Id if it is valid, else a new one. */
export function requestId(request: IncomingMessage): string {
  const header = request.headers['x-request-id']
  return typeof header === 'string' && acceptable.test(header) ? header : randomUUID()
}
