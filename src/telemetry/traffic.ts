import { LRUCache } from 'lru-cache'
import { type Code, codes } from '../../schemas/failure.ts'
import type { TrafficHour, UpstreamTrouble } from '../../schemas/status.ts'
import type { Clock } from '../common/clock.ts'
import { upTo } from '../common/lru.ts'

/** Calls of the last day by hour, and agents that are slow or fail. It counts nothing by caller. */
export interface Traffic {
  /** Counts a call; `code` is `ok` or the code of a failure. */
  call(code: string, seconds: number): void
  /** Counts a call to an agent outside of the registry. */
  upstream(agent: string, code: string, seconds: number): void
  /** The last 24 hours, the oldest first. */
  hours(): TrafficHour[]
  /** The worst first. */
  upstreams(): UpstreamTrouble[]
}

const hourMilliseconds = 3_600_000
const shownHours = 24
/** Agents that are watched: those that were called last. */
const maxUpstreams = 500
/** Fewer calls say nothing about an agent. */
const minCalls = 3
const failingShare = 0.2
const slowMilliseconds = 5_000

/** Upper bounds of the times that are counted together, in milliseconds. */
const bounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000]

/** Codes that say that the agent itself, not its caller, is the reason. */
const ofUpstream: ReadonlySet<string> = new Set<Code>([
  'upstream_failed',
  'upstream_invalid',
  'upstream_timeout',
  'circuit_open',
  'deadline_exceeded',
])

export function createTraffic(clock: Clock): Traffic {
  const all = new Ring(shownHours)
  const agents = new LRUCache<string, Ring>(upTo(maxUpstreams))
  const hourOf = () => Math.floor(clock() / hourMilliseconds)

  function troubleOf(agent: string, ring: Ring, hour: number): UpstreamTrouble | undefined {
    const { calls, failed, times } = ring.sum(hour)
    const p95_ms = quantile(times, 0.95)
    const isFailing = failed / calls >= failingShare
    const isSlow = (p95_ms ?? 0) >= slowMilliseconds
    if (calls < minCalls || (!isFailing && !isSlow)) return undefined
    return { agent, state: isFailing ? 'failing' : 'slow', calls, failed, p95_ms }
  }

  return {
    call(code, seconds) {
      const status = code === 'ok' ? 200 : (codes[code as Code]?.http ?? 500)
      all.at(hourOf()).add(status < 400 ? 'ok' : status < 500 ? 'refused' : 'failed', seconds)
    },
    upstream(agent, code, seconds) {
      const ring = agents.get(agent) ?? new Ring(2)
      agents.set(agent, ring)
      ring.at(hourOf()).add(ofUpstream.has(code) ? 'failed' : 'ok', seconds)
    },
    hours() {
      const now = hourOf()
      return Array.from({ length: shownHours }, (_, index) => {
        const hour = now - shownHours + 1 + index
        const { calls, refused, failed, times } = all.of(hour) ?? new Counts(hour)
        const at = new Date(hour * hourMilliseconds).toISOString()
        return { at, calls, refused, failed, p50_ms: quantile(times, 0.5), p95_ms: quantile(times, 0.95) }
      })
    },
    upstreams() {
      const hour = hourOf()
      const found = [...agents].map(([agent, ring]) => troubleOf(agent, ring, hour))
      return found
        .filter((trouble) => trouble !== undefined)
        .sort((left, right) => right.failed / right.calls - left.failed / left.calls)
    },
  }
}

/** What one hour counts. */
class Counts {
  readonly hour: number
  calls = 0
  refused = 0
  failed = 0
  readonly times = new Uint32Array(bounds.length + 1)

  constructor(hour: number) {
    this.hour = hour
  }

  add(outcome: 'ok' | 'refused' | 'failed', seconds: number): void {
    this.calls += 1
    if (outcome !== 'ok') this[outcome] += 1
    const bucket = bounds.findIndex((bound) => seconds * 1000 <= bound)
    const place = bucket < 0 ? bounds.length : bucket
    this.times[place] = (this.times[place] ?? 0) + 1
  }
}

/** The counts of the last hours; older ones are overwritten. */
class Ring {
  readonly #hours: (Counts | undefined)[]

  constructor(length: number) {
    this.#hours = new Array<Counts | undefined>(length)
  }

  of(hour: number): Counts | undefined {
    const counts = this.#hours[hour % this.#hours.length]
    return counts?.hour === hour ? counts : undefined
  }

  at(hour: number): Counts {
    const counts = this.of(hour) ?? new Counts(hour)
    this.#hours[hour % this.#hours.length] = counts
    return counts
  }

  /** The counts of all hours that end with this one. */
  sum(hour: number): Counts {
    const sum = new Counts(hour)
    for (const counts of this.#hours) {
      if (!counts || counts.hour <= hour - this.#hours.length || counts.hour > hour) continue
      sum.calls += counts.calls
      sum.failed += counts.failed
      for (const [place, times] of counts.times.entries()) sum.times[place] = (sum.times[place] ?? 0) + times
    }
    return sum
  }
}

/** A quantile by the counts of times, in milliseconds; null without calls. Within a bucket times are spread evenly. */
function quantile(times: Uint32Array, share: number): number | null {
  const total = times.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [place, count] of times.entries()) {
    if (left > count) {
      left -= count
      continue
    }
    const low = place === 0 ? 0 : (bounds[place - 1] ?? 0)
    const high = bounds[place] ?? low
    return Math.round((low + (high - low) * (left / Math.max(count, 1))) * 10) / 10
  }
  return bounds.at(-1) ?? null
}
