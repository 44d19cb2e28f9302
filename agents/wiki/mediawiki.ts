import { Failure } from '../../schemas/failure.ts'
import { type Query, type Refusal, readAnswer } from './answer.ts'
import type { Cached, Clock, CreateCache, Fetch } from './port.ts'

export interface WikiPorts {
  readonly fetch: Fetch
  readonly create_cache: CreateCache
  /** Address of the wiki's `api.php`; `{lang}` in it stands for the language asked for. */
  readonly url: string
  /** How the operator can be reached: Wikimedia wants it from everyone who calls its API. */
  readonly contact: string | undefined
  readonly clock: Clock
}

export type Params = Readonly<Record<string, string | number>>

export interface MediaWiki {
  /** True where each language has a wiki of its own. */
  readonly by_language: boolean
  query(lang: string, params: Params, signal: AbortSignal): Promise<Cached<Query>>
}

const minute = 60_000

const common: Params = {
  action: 'query',
  format: 'json',
  formatversion: 2,
  errorformat: 'plaintext',
  redirects: 1,
  meta: 'siteinfo',
  siprop: 'general|rightsinfo',
  maxlag: 5,
  maxage: 300,
  smaxage: 300,
}

/**
 * A client of MediaWiki's action API (https://www.mediawiki.org/wiki/API:Query). Answers are kept for ten minutes
 * (one, where a page is missing) and stand in for up to an hour while the wiki is in trouble.
 * Throws Failure `not_configured`, `invalid_request`, `upstream_failed`, `upstream_invalid` and what fetch throws.
 */
export function createMediaWiki({ fetch, create_cache, url, contact, clock }: WikiPorts): MediaWiki {
  const cached = create_cache<Query>({
    entries: 500,
    lifetime: (answer) => (isMissing(answer) ? minute : 10 * minute),
    stand_in: (answer) => (isMissing(answer) ? 0 : 60 * minute),
  })

  async function load(address: string, agent: string, signal: AbortSignal): Promise<Query> {
    const headers = { accept: 'application/json', 'api-user-agent': agent }
    const response = await fetch({ url: address, headers, signal, max_bytes: 2_000_000, timeout_ms: 8_000 })
    const retry = retryAfter(response.headers['retry-after'], clock())
    if (response.status !== 200) throw badStatus(response.status, retry)
    const { refusal, query } = readAnswer(response.body)
    if (query) return query
    throw refused(refusal, retry)
  }

  return {
    by_language: url.includes('{lang}'),
    async query(lang, params, signal) {
      if (contact === undefined) throw notConfigured()
      const address = addressOf(url.replaceAll('{lang}', lang), params)
      return cached(address, signal, (shared) => load(address, `Dragoman (${contact})`, shared))
    },
  }
}

/** That the one page asked for is not there; a list may name unwritten pages and be whole. */
function isMissing({ pages }: Query): boolean {
  return pages.length === 1 && pages[0]?.missing === true
}

function addressOf(url: string, params: Params): string {
  const address = new URL(url)
  for (const [name, value] of Object.entries({ ...common, ...params })) {
    address.searchParams.set(name, String(value))
  }
  return address.href
}

function notConfigured(): Failure {
  return new Failure('not_configured', 'The wiki needs a contact of the operator: set DRAGOMAN_CONTACT.', {
    hint: 'Set DRAGOMAN_CONTACT to an e-mail address or a page; Wikimedia slows down callers who name nobody.',
  })
}

function badStatus(status: number, retry: { retry_after_s?: number }): Failure {
  return new Failure('upstream_failed', `The wiki answered ${status}.`, { upstream: { status }, ...retry })
}

function refused(refusal: Refusal | undefined, retry: { retry_after_s?: number }): Failure {
  const code = refusal?.code ?? 'unknown'
  const message = `The wiki refused: ${refusal?.text ?? refusal?.info ?? code}`.slice(0, 300)
  if (/^(bad|invalid)/.test(code)) return new Failure('invalid_request', message, { upstream: { code } })
  const pause = code === 'maxlag' || code === 'ratelimited' ? { retry_after_s: 5, ...retry } : retry
  return new Failure('upstream_failed', message, { upstream: { code }, ...pause })
}

/** RFC 9110, 10.2.3: seconds, or a date. */
function retryAfter(value: string | undefined, now: number): { retry_after_s?: number } {
  if (value === undefined) return {}
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - now) / 1000)
  return Number.isFinite(seconds) ? { retry_after_s: Math.max(0, seconds) } : {}
}
