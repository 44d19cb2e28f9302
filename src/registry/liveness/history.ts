import type { Liveness, StoredLiveness } from '../../../schemas/liveness.ts'
import { dayOf } from '../../common/days.ts'

type History = StoredLiveness['history']

const daysKept = 30
const latenciesKept = 50
/** Latencies of one day that are kept. */
const maxOfDay = 200
/** A longer gap between two probes does not count as observed. In milliseconds. */
const maxGap = 25 * 3_600_000

/** Adds the time between two probes, in milliseconds since the epoch, as up or down. */
export function withSpan(history: History, from: number, to: number, isUp: boolean): History {
  const seconds = (to - from) / 1000
  if (seconds <= 0 || to - from > maxGap) return history
  const today = dayOf(to)
  const [, up, all] = history.days.find(([day]) => day === today) ?? [today, 0, 0]
  const others = history.days.filter(([day]) => day !== today && day > today - daysKept)
  const days = [...others, [today, round(up + (isUp ? seconds : 0)), round(all + seconds)] as const]
  return { ...history, days: days.map(([day, ...sums]) => [day, ...sums]) }
}

/** Counts a probe for its day. */
export function withProbe(
  history: History,
  at: number,
  isUp: boolean,
  latencies: readonly number[],
): History {
  const day = dayOf(at)
  const before = history.today?.day === day ? history.today : undefined
  const all = [...(before?.latencies ?? []), ...latencies].slice(-maxOfDay)
  const probes = (before?.probes ?? 0) + 1
  const failures = (before?.failures ?? 0) + (isUp ? 0 : 1)
  return { ...history, today: { day, probes, failures, latencies: all, ...latencyOf(all) } }
}

/** Adds latencies of answers, in milliseconds. */
export function withLatencies(history: History, took: readonly number[]): History {
  return { ...history, latencies: [...history.latencies, ...took].slice(-latenciesKept) }
}

/** The uptime and median latency of a history at a time. */
export function figuresOf(
  { days, latencies }: History,
  now: number,
): Pick<Liveness, 'uptime_30d' | 'p50_ms' | 'p95_ms'> {
  const first = dayOf(now) - daysKept
  const recent = days.filter(([day]) => day > first)
  const all = recent.reduce((sum, [, , seconds]) => sum + seconds, 0)
  const up = recent.reduce((sum, [, seconds]) => sum + seconds, 0)
  return { uptime_30d: all > 0 ? Math.round((up / all) * 10_000) / 10_000 : null, ...latencyOf(latencies) }
}

function latencyOf(latencies: readonly number[]): Pick<Liveness, 'p50_ms' | 'p95_ms'> {
  const sorted = latencies.toSorted((left, right) => left - right)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
  return { p50_ms: at(0.5), p95_ms: at(0.95) }
}

function round(seconds: number): number {
  return Math.round(seconds * 10) / 10
}
