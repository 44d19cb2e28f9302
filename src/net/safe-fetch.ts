import { lookup as systemLookup } from 'node:dns'
import { Agent, request as send } from 'undici'
import { Failure } from '../../schemas/failure.ts'
import { isPublicAddress } from './address.ts'
import { readBody } from './body.ts'
import { guardedConnector, type Lookup } from './connector.ts'
import { abortable, type Deadline, startDeadline } from './deadline.ts'
import type { Fetch, FetchRequest, FetchResponse } from './fetch.ts'
import { type Hop, nextHop } from './redirect.ts'
import { checkUrl, type Rules } from './rules.ts'
import { translate } from './translate.ts'

export type { Lookup } from './connector.ts'
export type { Fetch, FetchRequest, FetchResponse } from './fetch.ts'

export interface SafeFetchOptions {
  readonly user_agent: string
  /** The system's when absent. */
  readonly lookup?: Lookup
  /** The rule on literal addresses; replaced only by tests. */
  readonly is_public?: (address: string) => boolean
  /** Ports of public addresses; 80 and 443 when absent. */
  readonly ports?: readonly number[]
  /** Origins exempt from the rules on addresses, names and ports, each hop by its own. */
  readonly allow_origins?: readonly string[]
  /** Our own origins: refused to everybody, allowed or not. */
  readonly refuse_origins?: () => readonly string[]
}

/** The one door to the outside world. */
export interface SafeFetch extends AsyncDisposable {
  readonly fetch: Fetch
}

const maxRedirects = 5
const defaultBytes = 5 * 1024 * 1024
const defaultTimeout = 10_000
const idleTimeout = 10_000
const ours = new Set([
  'host',
  'cookie',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
])

/**
 * Makes a fetch that reaches public addresses only, whatever a URL, a name server or a redirect says.
 * It knows no proxy, no cookies and no HTTP/2, and keeps its own connections until it is disposed.
 */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const rules: Rules = {
    is_public: options.is_public ?? isPublicAddress,
    ports: new Set(options.ports ?? [80, 443]),
    allowed: new Set(options.allow_origins?.map((origin) => new URL(origin).origin)),
    refused: options.refuse_origins ?? (() => []),
  }
  const dispatcher = new Agent({
    connect: guardedConnector(options.lookup ?? systemLookup, rules),
    allowH2: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: idleTimeout,
    bodyTimeout: idleTimeout,
    connections: 32,
  })

  async function fetch(request: FetchRequest): Promise<FetchResponse> {
    using deadline = startDeadline(request.signal, request.timeout_ms ?? defaultTimeout)
    let hop = firstHop(request, rules, options.user_agent)
    try {
      const redirects: string[] = []
      while (true) {
        const answer = await exchange(dispatcher, hop, deadline, request.max_bytes ?? defaultBytes, rules)
        if ('status' in answer) return { ...answer, url: hop.url.href, redirects }
        if (redirects.length === maxRedirects) {
          throw new Failure('upstream_invalid', `${hop.url.host} redirects more than ${maxRedirects} times.`)
        }
        redirects.push(hop.url.href)
        hop = answer
      }
    } catch (error) {
      throw translate(error, hop.url.host, request.signal, deadline)
    }
  }

  return { fetch, [Symbol.asyncDispose]: () => dispatcher.destroy() }
}

function firstHop(request: FetchRequest, rules: Rules, userAgent: string): Hop {
  const headers = Object.entries(request.headers ?? {})
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !ours.has(name))
  return {
    url: checkUrl(request.url, rules),
    method: request.method ?? 'GET',
    headers: { ...Object.fromEntries(headers), 'user-agent': userAgent, 'accept-encoding': 'gzip, br' },
    body: request.body,
  }
}

type Answer = Pick<FetchResponse, 'status' | 'headers' | 'body'>

/** Sends one hop; gives its answer, or the hop it leads to with the answer's body thrown away. */
async function exchange(
  dispatcher: Agent,
  hop: Hop,
  { signal }: Deadline,
  maxBytes: number,
  rules: Rules,
): Promise<Answer | Hop> {
  const { url, method, headers, body } = hop
  // undici lets a signal end a request only once it has a connection.
  const response = await abortable(
    send(url, { dispatcher, method, headers, body: body ?? null, signal }),
    signal,
  )
  // What ends a body early (a refusal below, a destroyed stream) is reported once, by whoever ended it.
  response.body.on('error', () => {})
  try {
    const plain = plainHeaders(response.headers)
    const next = nextHop(hop, response.statusCode, plain.location, rules)
    if (next) return next
    const bytes = method === 'HEAD' ? new Uint8Array() : await readBody(response.body, plain, maxBytes)
    return { status: response.statusCode, headers: plain, body: bytes }
  } finally {
    response.body.destroy()
  }
}

function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers)
    .filter(([name, value]) => name !== 'set-cookie' && value !== undefined)
    .map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : (value ?? '')])
  return Object.fromEntries(entries)
}
