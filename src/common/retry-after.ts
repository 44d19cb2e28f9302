const second = 1_000
const maxSeconds = 24 * 3_600

/**
 * The value of a Retry-After field (RFC 9110, 10.2.3) in whole seconds, at most a day; the field holds seconds or a
 * date. Undefined if the field is absent or malformed.
 */
export function retryAfter(field: string | undefined, now: number): number | undefined {
  const text = field?.trim() ?? ''
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((dateOf(text) - now) / second)
  return Number.isFinite(seconds) ? Math.min(maxSeconds, Math.max(0, seconds)) : undefined
}

/** Date.parse accepts nearly anything as a date; an HTTP date contains the name of a month. */
function dateOf(text: string): number {
  return /[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
}
