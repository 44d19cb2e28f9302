import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const acceptable = /^[A-Za-z0-9._-]{1,64}$/

const made = new WeakMap<IncomingMessage, string>()

/** The caller's X-Request-Id if it is valid, else a new one for this request. */
export function requestId(request: IncomingMessage): string {
  const header = request.headers['x-request-id']
  if (typeof header === 'string' && acceptable.test(header)) return header
  const existing = made.get(request)
  if (existing !== undefined) return existing
  const id = randomUUID()
  made.set(request, id)
  return id
}
