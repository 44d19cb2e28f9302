const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Silence is looked into soon, then ever more rarely. */
const firstDelays = [minute, 5 * minute]
const maxDelay = 22 * hour
/** Of each delay, to either side, so that agents listed together are not looked at together for ever. */
const jitter = 0.1

/**
 * When to look again, RFC 3339: in an hour, or later with each look in a row that found nothing, up to a day; not before
 * the agent said that it may be asked again. `random` is 0 to below 1.
 */
export function nextAt(now: number, failures: number, retry_after_s = 0, random: number): string {
  const delay = delayOf(failures) * (1 - jitter + 2 * jitter * random)
  return new Date(now + Math.max(delay, Math.min(retry_after_s * 1000, day))).toISOString()
}

function delayOf(failures: number): number {
  if (failures === 0) return hour
  const firstDelay = firstDelays[failures - 1]
  return firstDelay ?? Math.min(10 * minute * 2 ** (failures - firstDelays.length - 1), maxDelay)
}

/** An agent is asked in its protocol at least so often, in milliseconds. */
export const askedEvery = day - hour
