import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { serve } from '../net/support.ts'

/** An answer to give, or a fault to play. */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /**
   * The fault: no answer, a reset socket, a body that stops half-way, or a body that comes byte by byte without an
   * end.
   */
  readonly fault?: 'hang' | 'reset' | 'truncate' | 'drip'
}

/** A request as it came in. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Resolves when the caller disconnects before it has the whole answer. */
  readonly dropped: Promise<void>
}

type Reply = Answer | ((seen: Seen) => Answer | Promise<Answer>)

/**
 * Answers by `METHOD /path` or `METHOD /path?name=value`. The request must have each named value, and may have others;
 * the route with the most matching values is used. The answers of a list are given one after the other; the last one is
 * repeated.
 */
export type Routes = Record<string, Reply | readonly Reply[]>

export interface Replay extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40001`. */
  readonly url: string
  readonly requests: readonly Seen[]
  /** Adds routes, or replaces them. */
  set(routes: Routes): void
  /** Resolves once `count` requests have arrived. */
  arrived(count: number): Promise<void>
}

/** An HTTP server on a free loopback port with the given answers. A request without a route gets a 404. */
export async function replay(initial: Routes = {}): Promise<Replay> {
  let routes = parse(initial)
  const requests: Seen[] = []
  const waiting = new Set<() => void>()

  const server = await serve((request, response) => {
    response.on('error', () => {})
    void answer(request, response).catch((error: Error) => response.destroy(error))
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = await read(request, response)
    requests.push(seen)
    for (const check of waiting) check()
    const next = find(routes, seen)?.next()
    play((typeof next === 'function' ? await next(seen) : next) ?? noRoute(seen), response)
  }

  return {
    url: server.origin,
    requests,
    set(more) {
      routes = [...parse(more), ...routes.filter(({ key }) => !(key in more))]
    },
    arrived(count) {
      return new Promise((resolve) => {
        const check = () => {
          if (requests.length < count) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      })
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

export function html(body = '<!doctype html><title>Just a moment…</title>', status = 200): Answer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body }
}

export function text(body: string, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, body }
}

export function tooMany(seconds: number): Answer {
  return text('Too Many Requests', 429, { 'retry-after': String(seconds) })
}

export const hang: Answer = { fault: 'hang' }
export const reset: Answer = { fault: 'reset' }
export const garbage: Answer = { body: new Uint8Array([0xff, 0xfe, 0x00, 0x7b, 0x80]) }
export const serverError: Answer = text('Internal Server Error', 500)

/**
 * Milliseconds to wait for a server with these routes: few if one of them never ends, so that its test is
 * short, and more than a busy machine needs if all of them end.
 */
export function fetchTimeout(routes: Routes): number {
  const replies = Object.values(routes).flat()
  const endless = (reply: Reply) => typeof reply === 'object' && /hang|drip/.test(reply.fault ?? '')
  return replies.some(endless) ? 1000 : 20_000
}

/** Sends half of the body, then closes the connection. */
export function truncated(answer: Answer): Answer {
  return { ...answer, fault: 'truncate' }
}

/** Sends the headers, then a byte every 20 ms, and never ends. */
export function dripping(answer: Answer): Answer {
  return { ...answer, fault: 'drip' }
}

/** A few kilobytes that unpack to many megabytes. */
export function gzipBomb(megabytes = 64): Answer {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  return { headers, body: gzipSync(new Uint8Array(megabytes * 1024 * 1024).fill(0x20)) }
}

interface Route {
  readonly key: string
  readonly method: string
  readonly path: string
  readonly query: readonly [string, string][]
  next(): Reply | undefined
}

function parse(routes: Routes): Route[] {
  return Object.entries(routes).map(([key, replies]) => {
    const [method = ''] = key.split(' ', 1)
    const { pathname, searchParams } = new URL(key.slice(method.length + 1), 'http://replay')
    const left = Array.isArray(replies) ? [...replies] : [replies]
    const next = () => (left.length > 1 ? left.shift() : left[0])
    return { key, method, path: pathname, query: [...searchParams], next }
  })
}

function find(routes: readonly Route[], seen: Seen): Route | undefined {
  return routes
    .filter(({ method, path }) => method === seen.method && path === seen.path)
    .filter(({ query }) => query.every(([name, value]) => seen.query.get(name) === value))
    .toSorted((a, other) => other.query.length - a.query.length)[0]
}

async function read(request: IncomingMessage, response: ServerResponse): Promise<Seen> {
  const { promise: dropped, resolve: drop } = Promise.withResolvers<void>()
  response.once('close', () => response.writableFinished || drop())
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://replay')
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return {
    method: request.method ?? '',
    path: pathname,
    query: searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
    dropped,
  }
}

function noRoute({ method, path }: Seen): Answer {
  return json({ error: `no route for ${method} ${path}` }, 404)
}

function play({ status = 200, headers = {}, body = '', fault }: Answer, response: ServerResponse): void {
  if (fault === 'hang') return
  if (fault === 'reset') return void response.socket?.resetAndDestroy()
  const bytes = Buffer.from(body)
  response.writeHead(status, { 'content-length': bytes.length, ...headers })
  if (fault === undefined) return void response.end(bytes)
  if (fault === 'truncate') {
    return void response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy())
  }
  drip(bytes, response)
}

function drip(bytes: Buffer, response: ServerResponse): void {
  let sent = 0
  const timer = setInterval(() => {
    if (sent < bytes.length - 1) response.write(bytes.subarray(sent, ++sent))
  }, 20)
  response.on('close', () => clearInterval(timer))
}
