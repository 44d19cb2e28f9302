import { type Details, Failure } from '../../schemas/failure.ts'
import { retryAfter } from '../../src/common/retry-after.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly url: string
}

/** Throws the Failure for an HTTP error status of the page's server; returns for any other status. */
export function throwForStatus({ status, headers, url }: Answer, now: number): void {
  if (status >= 200 && status < 300) return
  const { host } = new URL(url)
  if (status === 404 || status === 410) {
    throw new Failure('not_found', `${host} has no such page.`, { upstream: { status } })
  }
  const retry_after_s = retryAfter(headers['retry-after'], now)
  const details: Details = { upstream: { status }, ...(retry_after_s !== undefined && { retry_after_s }) }
  if (status === 402) {
    const hint = 'The page must be paid for. Look for the same text elsewhere.'
    throw new Failure('upstream_failed', `${host} asks for payment for the page (402).`, { ...details, hint })
  }
  if (status === 401 || status === 403) {
    const hint = isBotWall(headers)
      ? 'The server admits only browsers. Look for the same text elsewhere, or for an API.'
      : 'The page needs a login, or its server refuses programs.'
    throw new Failure('upstream_failed', `${host} refuses access to the page (${status}).`, {
      ...details,
      hint,
    })
  }
  if (status === 429)
    throw new Failure('upstream_failed', `${host} answered with too many requests (429).`, details)
  throw new Failure('upstream_failed', `${host} answered with status ${status}.`, details)
}

/** Headers of well-known bot walls that demand a browser. */
function isBotWall(headers: Answer['headers']): boolean {
  return headers['cf-mitigated'] === 'challenge' || 'x-datadome' in headers || 'x-amzn-waf-action' in headers
}
