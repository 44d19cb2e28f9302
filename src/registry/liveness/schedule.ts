const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Delays after the first failed probes, in milliseconds. Further delays double. */
const firstDelays = [minute, 5 * minute]
const maxDelay = 22 * hour
/** Jitter as a share of each delay, so that agents listed together are not always probed together. */
const jitter = 0.1

/**
 * The time of the next probe, RFC 3339: in an hour, or later with each failed probe in a row, up to a day; not before
 * the agent's Retry-After. `random` is 0 to below 1.
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

/** Maximum time between two probes in the agent's own protocol, in milliseconds. */
export const maxProtocolGap = day - hour
