import type { IncomingMessage } from 'node:http'
import { isRecord, parseJson } from '../json.ts'
import { retryAfter } from '../retry-after.ts'

/** A server refused to open a socket; the message is the server's own if it sends a problem (RFC 9457). */
export class UpgradeRefused extends Error {
  override readonly name = 'UpgradeRefused'
  /** HTTP status: 401 and 403 need another token, 503 may be retried later. */
  readonly status: number
  /** The stable code of the problem: unauthenticated, forbidden, unavailable … */
  readonly code: string | undefined
  readonly hint: string | undefined
  readonly retry_after_s: number | undefined
  /** The WWW-Authenticate header. */
  readonly challenge: string | undefined

  constructor(status: number, headers: IncomingMessage['headers'], body: string) {
    const problem = problemIn(body)
    const { detail, code, hint } = problem
    super(`The server refused the socket with ${status}${typeof detail === 'string' ? `: ${detail}` : ''}`)
    this.status = status
    this.code = typeof code === 'string' ? code : undefined
    this.hint = typeof hint === 'string' ? hint : undefined
    this.retry_after_s = retryAfter(headers['retry-after'], Date.now())
    this.challenge = headers['www-authenticate']
  }
}

/** The server or the network closed a socket, with another code than 1000. */
export class SocketClosed extends Error {
  override readonly name = 'SocketClosed'
  /** RFC 6455 section 7.4; 1006 if the connection broke. */
  readonly code: number
  readonly reason: string

  constructor(code: number, reason: string) {
    super(`The socket closed with ${code}${reason === '' ? '' : `: ${reason}`}`)
    this.code = code
    this.reason = reason
  }
}

function problemIn(body: string): Record<string, unknown> {
  const value = parseJson(body)
  return isRecord(value) ? value : {}
}
