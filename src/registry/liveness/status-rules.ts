import type { FailureClass, Liveness, Signal, StoredLiveness } from '../../../schemas/liveness.ts'
import { figuresOf, withLatencies, withSpan } from './history.ts'
import { nextAt } from './schedule.ts'

/** What one look at an agent found. */
export interface ProbeResult {
  readonly signals: readonly Signal[]
  /** The card as it now stands, for the next look. */
  readonly card: StoredLiveness['card']
  /** The agent gave a sign of life, if only to say that it wants a credential. */
  readonly is_live: boolean
  /** How long the agent asked to be left alone. */
  readonly retry_after_s?: number | undefined
}

const minute = 60_000
const week = 7 * 24 * 60 * minute
/** An agent is dead once so many looks in a row, over so long, found no sign of life. */
const looksToDie = 3
const millisecondsToDie = 5 * minute

/** How an agent fares after a look at it at `now`; `random` is 0 to below 1. */
export function judge(
  before: StoredLiveness,
  result: ProbeResult,
  now: number,
  random: number,
): StoredLiveness {
  const at = new Date(now).toISOString()
  const { shown } = before
  const failures = result.is_live ? 0 : before.failures + 1
  const silent_since = result.is_live ? null : (before.silent_since ?? at)
  const last_ok = result.is_live ? at : shown.last_ok
  const history = withLatencies(
    shown.checked_at
      ? withSpan(before.history, Date.parse(shown.checked_at), now, before.failures === 0)
      : before.history,
    result.signals.flatMap(({ ok, ms }) => (ok && ms !== null ? ms : [])),
  )
  const status = statusOf(result, { before: shown.status, failures, silent_since, last_ok, now })
  const answer = result.signals.find(({ signal }) => signal === 'answer')
  return {
    ...before,
    failures,
    silent_since,
    history,
    card: result.card,
    ...(answer && { asked_at: at, asked_failure: answer.ok ? null : answer.failure }),
    next_at: nextAt(now, failures, result.retry_after_s, random),
    shown: {
      status,
      since: status === shown.status ? shown.since : at,
      checked_at: at,
      last_ok,
      ...figuresOf(history, now),
      failure: tellingOf(result.signals),
    },
  }
}

interface StatusHistory {
  readonly before: Liveness['status']
  readonly failures: number
  readonly silent_since: string | null
  readonly last_ok: string | null
  readonly now: number
}

function statusOf({ is_live, signals }: ProbeResult, history: StatusHistory): Liveness['status'] {
  const { before, failures, silent_since, last_ok, now } = history
  if (is_live) return signals.every(({ ok }) => ok) ? 'alive' : 'degraded'
  const silent = (time: string | null) => now - Date.parse(time ?? silent_since ?? '')
  if (silent(last_ok) >= week) return 'stale'
  if (before === 'dead' || before === 'stale') return 'dead'
  return failures >= looksToDie && silent(silent_since) >= millisecondsToDie ? 'dead' : 'degraded'
}

/** Whether it answers tells most, then its card; what is asked for of whoever is alive comes last. */
function tellingOf(signals: readonly Signal[]): FailureClass | null {
  const failing = order.flatMap((name) => signals.filter(({ signal, failure }) => signal === name && failure))
  return (failing.find(({ ok }) => !ok) ?? failing[0])?.failure ?? null
}

const order = ['answer', 'card', 'form'] as const
