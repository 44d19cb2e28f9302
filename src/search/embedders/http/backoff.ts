import type { Clock } from './port.ts'

const first = 500
const longest = 8_000
/** What a server may ask for at most; who wants us to stay away longer gets the failure that we then report. */
const longestAsked = 30_000

/**
 * Milliseconds to wait after failed attempt number `attempt`, counted from 1: what the server asks for, up to half
 * a minute, else twice as long each time, less up to a half by chance, so that clients do not come back together.
 */
export function delayAfter(attempt: number, asked: number | undefined, random: () => number): number {
  if (asked !== undefined) return Math.min(asked, longestAsked)
  return Math.min(first * 2 ** (attempt - 1), longest) * (1 - random() / 2)
}

/** Milliseconds that a Retry-After field (RFC 9110, 10.2.3) asks for, in either of its forms. */
export function askedDelay(field: string | undefined, clock: Clock): number | undefined {
  if (field === undefined) return undefined
  if (/^\d{1,9}$/.test(field.trim())) return Number(field) * 1000
  const date = Date.parse(field)
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock())
}
