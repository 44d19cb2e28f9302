import { lookup as systemLookup } from 'node:dns'
import { Failure } from '../../../schemas/failure.ts'
import { startDeadline } from '../../common/deadline.ts'
import { isPublicAddress } from './address.ts'
import type { Client, OpenAnswer } from './client.ts'
import type { Lookup } from './connector.ts'
import type { Fetch, FetchRequest, FetchResponse, Open, OpenResponse } from './fetch.ts'
import { type Hop, nextHop } from './redirect.ts'
import { checkUrl, type Rules } from './rules.ts'
import { translate } from './translate-error.ts'
import { createDial, type Dial } from './web-socket.ts'

export type { Lookup } from './connector.ts'
export type { Fetch, FetchRequest, FetchResponse, Open } from './fetch.ts'
export type { Dial } from './web-socket.ts'

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
  /** How long the other side may be silent; 10,000 ms when absent. */
  readonly idle_ms?: number
  /** Most connections to one origin; null: as many as are asked for. 32 when absent. */
  readonly connections?: number | null
  /** Our own origins: refused to everybody, allowed or not. */
  readonly refuse_origins?: () => readonly string[]
}

/** The one door to the outside world. */
export interface SafeFetch extends AsyncDisposable {
  readonly fetch: Fetch
  readonly open: Open
  readonly dial: Dial
  /** What the address alone tells of whether it is fetched. Throws as Fetch does. */
  readonly check: (url: string) => URL
}

const maxRedirects = 5
const defaultBytes = 5 * 1024 * 1024
const defaultTimeout = 10_000
const defaultIdle = 10_000
const defaultConnections = 32
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
    refused: parsedOnce(options.refuse_origins ?? (() => [])),
  }
  let client: Promise<Client> | undefined

  /** The HTTP client is loaded with the first request: a start does not pay for it. */
  async function loadClient(): Promise<Client> {
    const { createClient } = await import('./client.ts')
    const { lookup = systemLookup, idle_ms = defaultIdle, connections = defaultConnections } = options
    return createClient(lookup, rules, { idle_ms, connections })
  }

  async function fetch(request: FetchRequest): Promise<FetchResponse> {
    let hop = firstHop(request, rules, options.user_agent)
    client ??= loadClient()
    const { exchange } = await client
    const { signal, timeout_ms = defaultTimeout } = request
    using limit = timeout_ms === 'none' ? null : startDeadline(signal, timeout_ms)
    const deadline = limit ?? { signal, has_passed: false }
    try {
      const redirects: string[] = []
      while (true) {
        const answer = await exchange(hop, deadline.signal, request.max_bytes ?? defaultBytes)
        if ('status' in answer) return { ...answer, url: hop.url.href, redirects }
        if (redirects.length === maxRedirects) {
          throw new Failure('upstream_invalid', `${hop.url.host} redirects more than ${maxRedirects} times.`)
        }
        if (request.unmoved) throw moved(hop, answer)
        if (request.stays) assertStays(hop, answer)
        redirects.push(hop.url.href)
        hop = answer
      }
    } catch (error) {
      throw translate(error, hop.url.host, request.signal, deadline)
    }
  }

  async function open(request: Parameters<Open>[0]): Promise<OpenResponse> {
    const first = firstHop(request, rules, options.user_agent)
    let hop: Hop = { ...first, headers: { ...first.headers, 'accept-encoding': 'identity' } }
    client ??= loadClient()
    const { open: send } = await client
    const { signal } = request
    try {
      for (let redirects = 0; redirects <= maxRedirects; redirects++) {
        const answer = await send(hop, signal)
        const next = leads(hop, answer)
        const { host } = hop.url
        if (!next) return { ...answer, explain: (error) => translate(error, host, signal, endless) }
        answer.body.destroy()
        hop = next
      }
      throw new Failure('upstream_invalid', `${hop.url.host} redirects more than ${maxRedirects} times.`)
    } catch (error) {
      throw translate(error, hop.url.host, signal, endless)
    }
  }

  function leads(hop: Hop, { status, headers, body }: OpenAnswer): Hop | undefined {
    try {
      const next = nextHop(hop, status, headers.location, rules)
      if (next) assertStays(hop, next)
      return next
    } catch (refused) {
      body.destroy()
      throw refused
    }
  }

  const dial = createDial(options.lookup ?? systemLookup, rules)
  const check = (url: string) => checkUrl(url, rules)
  return {
    fetch,
    open,
    dial,
    check,
    [Symbol.asyncDispose]: async () => (await client)?.[Symbol.asyncDispose](),
  }
}

function assertStays(from: Hop, to: Hop): void {
  if (to.method === from.method && to.url.origin === from.url.origin) return
  throw new Failure('upstream_invalid', `${from.url.host} redirects to ${to.url.origin}.`, {
    hint: 'What was meant for one place is not sent to another. Publish the address that it redirects to.',
  })
}

/** Addresses that hardly ever change, parsed when they do. */
function parsedOnce(addresses: () => readonly string[]): () => readonly URL[] {
  let known: readonly string[] = []
  let urls: readonly URL[] = []
  return () => {
    const now = addresses()
    const isKnown = now.length === known.length && now.every((address, index) => address === known[index])
    if (!isKnown) urls = now.map((address) => new URL(address))
    known = now
    return urls
  }
}

function moved(from: Hop, to: Hop): Failure {
  return new Failure(
    'upstream_invalid',
    `${from.url.host} redirects to ${to.url.origin}, which is not followed.`,
    {
      hint: 'Give the address that it redirects to.',
      upstream: { code: 'redirect' },
    },
  )
}

/** Of what only its caller ends. */
const endless = { has_passed: false }

function firstHop(request: Parameters<Open>[0], rules: Rules, userAgent: string): Hop {
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
