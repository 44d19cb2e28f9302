import { type Details, Failure } from '../../schemas/failure.ts'

/** Throws the Failure that an HTTP error status of the page's server stands for; returns for any other. */
export function throwForStatus(
  status: number,
  headers: Readonly<Record<string, string>>,
  host: string,
): void {
  if (status >= 200 && status < 300) return
  if (status === 404 || status === 410) {
    throw new Failure('not_found', `${host} has no such page.`, { upstream: { status } })
  }
  const retry_after_s = secondsOf(headers['retry-after'])
  const details: Details = { upstream: { status }, ...(retry_after_s !== undefined && { retry_after_s }) }
  if (status === 401 || status === 403) {
    const hint = 'The page asks for a login, or its server refuses programs.'
    throw new Failure('upstream_failed', `${host} refuses access to the page (${status}).`, {
      ...details,
      hint,
    })
  }
  if (status === 429) throw new Failure('upstream_failed', `${host} asks for fewer requests (429).`, details)
  throw new Failure('upstream_failed', `${host} answered with status ${status}.`, details)
}

/** `Retry-After` in seconds, up to a day; its date form is left alone. */
function secondsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,5}$/.test(header) ? Math.min(Number(header), 86_400) : undefined
}
