const second = 1_000
const longest = 24 * 3_600

/**
 * Whole seconds that a Retry-After field (RFC 9110, 10.2.3) asks for, given in seconds or as a date; at most a day.
 * Undefined where there is none, or nothing that can be read.
 */
export function retryAfter(field: string | undefined, now: number): number | undefined {
  const text = field?.trim() ?? ''
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((dateOf(text) - now) / second)
  return Number.isFinite(seconds) ? Math.min(longest, Math.max(0, seconds)) : undefined
}

/** Date.parse takes nearly anything for a date; an HTTP date has a name of a month. */
function dateOf(text: string): number {
  return /[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
}
