import { Failure } from '../../schemas/failure.ts'
import type { Cached, UpstreamAnswer, UpstreamCall, Upstreams } from '../../src/common/upstream.ts'
import { readAnswer, type WikiQuery, type WikiRefusal } from './answer.ts'

export interface WikiPorts extends Upstreams {
  /** URL of the wiki's `api.php`; `{lang}` in it stands for the requested language. */
  readonly url: string
  /** Contact of the operator: Wikimedia requires it of every API client. */
  readonly contact: string | undefined
  /** Languages that may be requested; any when empty. */
  readonly languages: readonly string[]
}

type Params = Readonly<Record<string, string | number>>

export interface MediaWiki {
  /** True if each language has its own wiki. */
  readonly by_language: boolean
  query(lang: string, params: Params, call: UpstreamCall): Promise<Cached<WikiQuery>>
}

const minute = 60_000
const maxUrlLength = 2_000
const fetchLimits = { max_bytes: 2_000_000, timeout_ms: 8_000 }

/** Three concurrent requests, ten per second: https://www.mediawiki.org/wiki/API:Etiquette. */
const limits = { gap_ms: 100, burst: 10, max_in_flight: 3 }

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
 * A client of MediaWiki's action API (https://www.mediawiki.org/wiki/API:Query). Answers are fresh for ten minutes (one
 * minute if a page is missing), are served as stale for fifty more while a new one is fetched, and for a day while the
 * wiki fails. Throws Failure `not_configured`, `invalid_request`, `circuit_open`, `rate_limited`,
 * `upstream_failed`, `upstream_invalid` and network errors.
 */
export function createMediaWiki({ create_upstream, create_cache, ...settings }: WikiPorts): MediaWiki {
  const { url, contact, languages } = settings
  const ask = create_upstream(limits)
  const cached = create_cache<WikiQuery>({
    entries: 500,
    lifetime: (answer) => (isMissing(answer) ? minute : 10 * minute),
    refresh: (answer) => (isMissing(answer) ? 0 : 50 * minute),
    stand_in: (answer) => (isMissing(answer) ? 0 : 24 * 60 * minute),
  })

  return {
    by_language: url.includes('{lang}'),
    async query(lang, params, call) {
      if (contact === undefined) throw notConfigured()
      if (languages.length > 0 && !languages.includes(lang)) throw notOffered(lang, languages)
      const address = addressOf(url.replaceAll('{lang}', lang), params)
      const request = requestOf(address, {
        accept: 'application/json',
        'api-user-agent': `Dragoman (${contact})`,
      })
      return cached(address.href, call, (shared) => ask({ ...request, ...fetchLimits, ...shared }, read))
    },
  }
}

function read({ status, body, retry_after_s }: UpstreamAnswer): WikiQuery {
  const retry = retry_after_s === undefined ? {} : { retry_after_s }
  if (status !== 200) {
    throw new Failure('upstream_failed', `The wiki answered ${status}.`, { upstream: { status }, ...retry })
  }
  const { refusal, query } = readAnswer(body)
  if (query) return query
  throw refused(refusal, retry)
}

/** True if the only requested page does not exist. A list may name missing pages and is still complete. */
function isMissing({ pages }: WikiQuery): boolean {
  return pages.length === 1 && pages[0]?.missing === true
}

function addressOf(url: string, params: Params): URL {
  const address = new URL(url)
  for (const [name, value] of Object.entries({ ...common, ...params })) {
    address.searchParams.set(name, String(value))
  }
  return address
}

/** Makes a GET, which the wiki's own caches answer; makes a POST for queries that are too long for a URL. */
function requestOf(address: URL, headers: Readonly<Record<string, string>>) {
  if (address.href.length <= maxUrlLength) return { url: address.href, headers }
  return {
    url: address.origin + address.pathname,
    method: 'POST' as const,
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: address.searchParams.toString(),
  }
}

function notConfigured(): Failure {
  return new Failure(
    'not_configured',
    'This gateway lacks the setting DRAGOMAN_CONTACT, which the wiki needs.',
    {
      hint: 'The operator sets it to an e-mail address or a page, because Wikimedia throttles clients without a contact. Until then use another agent.',
    },
  )
}

function notOffered(lang: string, languages: readonly string[]): Failure {
  const detail = `The wiki is not offered in ${lang}, only in ${languages.slice(0, 50).join(', ')}.`
  return new Failure('invalid_request', detail, {
    errors: [{ pointer: '/lang', detail }],
    hint: 'The operator chooses the languages in DRAGOMAN_WIKI_LANGUAGES.',
  })
}

/** Errors with status 200; `maxlag` and `ratelimited` ask the client to wait, with or without a Retry-After. */
function refused(refusal: WikiRefusal | undefined, retry: { retry_after_s?: number }): Failure {
  const code = refusal?.code ?? 'unknown'
  const message = `The wiki refused: ${refusal?.text ?? refusal?.info ?? code}`.slice(0, 300)
  if (/^(bad|invalid)/.test(code)) return new Failure('invalid_request', message, { upstream: { code } })
  const pause = code === 'maxlag' || code === 'ratelimited' ? { retry_after_s: 5, ...retry } : retry
  const kind = code === 'ratelimited' ? 'rate_limited' : 'upstream_failed'
  return new Failure(kind, message, { upstream: { code }, ...pause })
}
