import { Failure } from '../../../schemas/failure.ts'
import type { FetchMethod } from './fetch.ts'
import { checkUrl, type Rules } from './rules.ts'

/** One request in a chain of redirects. */
export interface Hop {
  readonly url: URL
  readonly method: FetchMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

const redirecting = new Set([301, 302, 303, 307, 308])

/** Headers that another origin receives. Credentials may be in any header, so no other header is passed on. */
const crossOriginHeaders = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'user-agent',
])

/**
 * The next hop of a redirect, checked like the first one; undefined for any other answer. Methods change as in the
 * Fetch Standard's HTTP-redirect fetch. Throws Failure `blocked_address`, and `upstream_invalid` for an invalid
 * target.
 */
export function nextHop(
  hop: Hop,
  status: number,
  location: string | undefined,
  rules: Rules,
): Hop | undefined {
  if (!redirecting.has(status) || location === undefined) return undefined
  const url = target(hop.url, location, rules)
  const becomesGet = hop.method === 'POST' && (status === 303 || status === 301 || status === 302)
  const isSameOrigin = url.origin === hop.url.origin
  const headers = Object.entries(hop.headers).filter(
    ([name]) => (isSameOrigin || crossOriginHeaders.has(name)) && !(becomesGet && name === 'content-type'),
  )
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers: Object.fromEntries(headers),
    body: becomesGet ? undefined : hop.body,
  }
}

function target(from: URL, location: string, rules: Rules): URL {
  try {
    return checkUrl(URL.canParse(location, from.href) ? new URL(location, from).href : location, rules)
  } catch (error) {
    const failure = Failure.from(error)
    if (failure.code !== 'invalid_request') throw failure
    throw new Failure(
      'upstream_invalid',
      `The answer redirects to a URL that cannot be fetched. ${failure.message}`,
    )
  }
}
