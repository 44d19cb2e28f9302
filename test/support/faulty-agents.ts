import type { IncomingMessage, ServerResponse } from 'node:http'
import { serve, type TestServer } from '../net/support.ts'

/** The server's fault instead of an answer. The body of the request has been read. */
type Misdeed = (request: IncomingMessage, response: ServerResponse) => void

export interface FaultyAgent extends TestServer {
  /** Changes the fault from now on. */
  become(misdeed: Misdeed): void
}

/** A server that reads each request and then commits the current fault. */
export async function serveFaults(first: Misdeed): Promise<FaultyAgent> {
  let now = first
  const server = await serve((request, response) => {
    request.resume()
    request.once('end', () => now(request, response))
    response.on('error', () => {})
  })
  return {
    ...server,
    become(misdeed) {
      now = misdeed
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const json = { 'Content-Type': 'application/json' }
const chunk = Buffer.alloc(64 * 1024, 'x')

function flood(response: ServerResponse, left: number): void {
  if (left === 0 || response.destroyed) return void response.end('"}')
  if (response.write(chunk)) setImmediate(flood, response, left - 1)
  else response.once('drain', () => flood(response, left - 1))
}

/** Each fault, the code that callers get, and whether it counts against the agent. */
export const faults: readonly (readonly [name: string, misdeed: Misdeed, code: string])[] = [
  ['hangs', () => {}, 'upstream_timeout'],
  ['breaks off', (request) => void request.socket.destroy(), 'upstream_failed'],
  [
    'breaks off half-way',
    (request, response) => {
      response.writeHead(200, { ...json, 'Content-Length': 1000 }).write('{"half":')
      setTimeout(() => request.socket.destroy(), 5)
    },
    'upstream_failed',
  ],
  [
    'drips',
    (_, response) => {
      response.writeHead(200, json)
      const drip = setInterval(() => response.write(' '), 20)
      response.once('close', () => clearInterval(drip))
    },
    'upstream_timeout',
  ],
  ['talks nonsense', (_, response) => void response.writeHead(200, json).end('{]'), 'upstream_invalid'],
  [
    'shows a page',
    (_, response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Welcome</h1>'),
    'upstream_invalid',
  ],
  ['says that it failed', (_, response) => void response.writeHead(500).end('Oh no'), 'upstream_failed'],
  [
    'answers ten megabytes',
    (_, response) => {
      response.writeHead(200, json).write('{"x":"')
      flood(response, 170)
    },
    'upstream_invalid',
  ],
  [
    'leads elsewhere',
    (_, response) => void response.writeHead(307, { Location: 'https://example.com/' }).end(),
    'upstream_invalid',
  ],
  [
    'leads inside',
    (_, response) => void response.writeHead(307, { Location: 'http://169.254.169.254/latest' }).end(),
    'blocked_address',
  ],
  [
    'leads round and round',
    (request, response) => void response.writeHead(308, { Location: request.url ?? '/' }).end(),
    'upstream_invalid',
  ],
  [
    'answers somebody else',
    (_, response) => {
      const body = {
        jsonrpc: '2.0',
        id: 'not-yours',
        result: { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } },
      }
      response.writeHead(200, { ...json, 'Content-Encoding': 'br' }).end(JSON.stringify(body))
    },
    'upstream_invalid',
  ],
]
