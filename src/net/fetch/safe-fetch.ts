import { lookup as systemLookup } from 'node:dns'
import { Failure } from '../../../schemas/failure.ts'
import { startDeadline } from '../../common/deadline.ts'
import { isPublicAddress } from './address.ts'
import { createAnsweredLookup } from './answered-lookup.ts'
import type { HttpClient, StreamedAnswer } from './client.ts'
import type { Lookup } from './connector.ts'
import type { Fetch, Open } from './fetch.ts'
import { type Hop, nextHop } from './redirect.ts'
import { checkUrl, type Rules } from './rules.ts'
import { translate } from './translate-error.ts'
import { createDial, type Dial } from './web-socket.ts'

export interface SafeFetchOptions {
  readonly user_agent: string
  /** The system's when absent. */
  readonly lookup?: Lookup
  /** The rule for literal addresses; only tests replace it. */
  readonly is_public?: (address: string) => boolean
  /** Ports of public addresses; 80 and 443 when absent. */
  readonly ports?: readonly number[]
  /** Origins exempt from the rules on addresses, names and ports; checked for each hop. */
  readonly allow_origins?: readonly string[]
  /** Milliseconds for which a server may be silent; 10,000 when absent. */
  readonly idle_ms?: number
  /** Maximum connections to one origin; null: no limit. 32 when absent. */
  readonly connections?: number | null
  /** The gateway's own origins: always refused, even if allowed. */
  readonly refuse_origins?: () => readonly string[]
}

/** The gateway's only HTTP client for other servers. */
export interface SafeFetch extends AsyncDisposable {
  readonly fetch: Fetch
  readonly open: Open
  readonly dial: Dial
  /** Checks the URL itself, without resolving its name. Throws as Fetch does. */
  readonly check: (url: string) => URL
}

const maxRedirects = 5
const defaultBytes = 5 * 1024 * 1024
const defaultTimeout_ms = 10_000
const defaultIdle_ms = 10_000
const defaultConnections = 32
/** Headers that this client sets or forbids. */
const reservedHeaders = new Set([
  'host',
  'cookie',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
])
/** Replaces a deadline if only the caller ends the request. */
const noDeadline = { has_passed: false }

/**
 * Creates a fetch that reaches public addresses only, whatever a URL, a name server or a redirect says. It uses no
 * proxy, no cookies and no HTTP/2, and keeps its own connections until it is disposed.
 */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  return new GuardedFetch(options)
}

class GuardedFetch implements SafeFetch {
  readonly dial: Dial
  readonly #options: SafeFetchOptions
  readonly #rules: Rules
  readonly #lookup: Lookup
  #client: Promise<HttpClient> | undefined

  constructor(options: SafeFetchOptions) {
    this.#options = options
    this.#rules = {
      is_public: options.is_public ?? isPublicAddress,
      ports: new Set(options.ports ?? [80, 443]),
      allowed: new Set(options.allow_origins?.map((origin) => new URL(origin).origin)),
      refused: parsedOnce(options.refuse_origins ?? (() => [])),
    }
    // The operator chose the names of these origins, and the system may know them from elsewhere.
    const trusted = new Set([...this.#rules.allowed].map((origin) => new URL(origin).hostname))
    this.#lookup = options.lookup ?? createAnsweredLookup(systemLookup, { trusted })
    this.dial = createDial(this.#lookup, this.#rules)
  }

  readonly fetch: Fetch = async (request) => {
    let hop = firstHop(request, this.#rules, this.#options.user_agent)
    const client = await this.#loadClient()
    const { signal, timeout_ms = defaultTimeout_ms } = request
    using limit = timeout_ms === 'none' ? null : startDeadline(signal, timeout_ms)
    const deadline = limit ?? { signal, has_passed: false }
    try {
      const redirects: string[] = []
      while (true) {
        const answer = await client.exchange(hop, deadline.signal, request.max_bytes ?? defaultBytes)
        if ('status' in answer) return { ...answer, url: hop.url.href, redirects }
        if (redirects.length === maxRedirects) throw tooManyRedirects(hop)
        if (request.refuse_redirects) throw redirected(hop, answer)
        if (request.same_origin_only) assertSameOrigin(hop, answer)
        redirects.push(hop.url.href)
        hop = answer
      }
    } catch (error) {
      throw translate(error, hop.url.host, request.signal, deadline)
    }
  }

  readonly open: Open = async (request) => {
    const first = firstHop(request, this.#rules, this.#options.user_agent)
    let hop: Hop = { ...first, headers: { ...first.headers, 'accept-encoding': 'identity' } }
    const client = await this.#loadClient()
    const { signal } = request
    try {
      for (let redirects = 0; redirects <= maxRedirects; redirects++) {
        const answer = await client.open(hop, signal)
        const next = this.#nextHop(hop, answer)
        const { host } = hop.url
        if (!next) return { ...answer, explain: (error) => translate(error, host, signal, noDeadline) }
        answer.body.destroy()
        hop = next
      }
      throw tooManyRedirects(hop)
    } catch (error) {
      throw translate(error, hop.url.host, signal, noDeadline)
    }
  }

  readonly check = (url: string): URL => checkUrl(url, this.#rules)

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#client)?.[Symbol.asyncDispose]()
  }

  /** Loads the HTTP client with the first request, which keeps the start of the gateway fast. */
  #loadClient(): Promise<HttpClient> {
    this.#client ??= import('./client.ts').then(({ createHttpClient }) => {
      const { idle_ms = defaultIdle_ms, connections = defaultConnections } = this.#options
      return createHttpClient(this.#lookup, this.#rules, { idle_ms, connections })
    })
    return this.#client
  }

  #nextHop(hop: Hop, { status, headers, body }: StreamedAnswer): Hop | undefined {
    try {
      const next = nextHop(hop, status, headers.location, this.#rules)
      if (next) assertSameOrigin(hop, next)
      return next
    } catch (refused) {
      body.destroy()
      throw refused
    }
  }
}

function tooManyRedirects({ url }: Hop): Failure {
  return new Failure('upstream_invalid', `${url.host} redirects more than ${maxRedirects} times.`)
}

function assertSameOrigin(from: Hop, to: Hop): void {
  if (to.method === from.method && to.url.origin === from.url.origin) return
  const { origin, pathname } = to.url
  throw new Failure('upstream_invalid', `${from.url.host} redirects to ${origin}${pathname}.`, {
    hint: 'A redirect to another origin, or one that makes a GET of a POST (301, 302, 303), is not followed. Publish the URL that it redirects to.',
  })
}

/** Parses addresses that rarely change, and parses them again only after a change. */
function parsedOnce(addresses: () => readonly string[]): () => readonly URL[] {
  let parsed: readonly string[] = []
  let urls: readonly URL[] = []
  return () => {
    const now = addresses()
    const isSame = now.length === parsed.length && now.every((address, index) => address === parsed[index])
    if (!isSame) urls = now.map((address) => new URL(address))
    parsed = now
    return urls
  }
}

function redirected(from: Hop, to: Hop): Failure {
  return new Failure(
    'upstream_invalid',
    `${from.url.host} redirects to ${to.url.origin}, which is not followed.`,
    {
      hint: 'Give the URL that it redirects to.',
      upstream: { code: 'redirect' },
    },
  )
}

function firstHop(request: Parameters<Open>[0], rules: Rules, userAgent: string): Hop {
  const headers: Record<string, string> = {}
  for (const [written, value] of Object.entries(request.headers ?? {})) {
    const name = written.toLowerCase()
    if (!reservedHeaders.has(name)) headers[name] = value
  }
  headers['user-agent'] = userAgent
  headers['accept-encoding'] = 'gzip, br'
  return {
    url: checkUrl(request.url, rules),
    method: request.method ?? 'GET',
    headers,
    body: request.body,
  }
}
