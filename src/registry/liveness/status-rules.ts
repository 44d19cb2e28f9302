import type { AccessReport } from '../../../schemas/callable.ts'
import type { FailureClass, Liveness, Signal, StoredLiveness } from '../../../schemas/liveness.ts'
import { dayMilliseconds } from '../../common/days.ts'
import { figuresOf, withLatencies, withProbe, withSpan } from './history.ts'
import { nextAt } from './schedule.ts'

/** The result of one probe of an agent. */
export interface ProbeResult {
  readonly signals: readonly Signal[]
  /** The current card, for the next probe. */
  readonly card: StoredLiveness['card']
  /** True if the agent answered, even if only to ask for a credential. */
  readonly is_live: boolean
  /** What the agent asks a caller for; absent if it did not tell. */
  readonly access?: AccessReport['kind'] | undefined
  /** The agent's Retry-After, in seconds. */
  readonly retry_after_s?: number | undefined
}

const minute = 60_000
const week = 7 * dayMilliseconds
/** An agent is dead after this many failed probes in a row, if it has not answered for the time below. */
const minFailures = 3
const minSilence = 5 * minute

/** The liveness of an agent after a probe at `now`; `random` is 0 to below 1. */
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
  // An address that this gateway does not call says nothing about the agent.
  const isObserved = shown.failure !== 'blocked_address'
  const latencies = result.signals.flatMap(({ ok, ms }) => (ok && ms !== null ? ms : []))
  const spanned =
    shown.checked_at && isObserved
      ? withSpan(before.history, Date.parse(shown.checked_at), now, before.failures === 0)
      : before.history
  const isBlocked = shownFailure(result.signals) === 'blocked_address'
  const counted = isBlocked
    ? spanned
    : withProbe(spanned, now, result.is_live, result.is_live ? latencies : [])
  const history = withLatencies(counted, latencies)
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
      failure: shownFailure(result.signals),
      access: accessAfter(shown.access, result.access, at),
    },
  }
}

/** A challenge without metadata is no news where a sign-in is known. */
function accessAfter(
  before: AccessReport | null,
  kind: AccessReport['kind'] | undefined,
  at: string,
): AccessReport | null {
  if (kind === undefined || (kind === 'needs_key' && before?.kind === 'needs_sign_in')) return before
  return { kind, asked_at: at }
}

/** The failures of a probe that no agent answered. */
const noAnswer: ReadonlySet<FailureClass> = new Set([
  'dns',
  'refused',
  'tls',
  'timeout',
  'broken_off',
  'blocked_address',
])

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
  if (failures >= minFailures && silent(silent_since) >= minSilence) return 'dead'
  const failure = shownFailure(signals)
  return last_ok === null && failure && noAnswer.has(failure) ? 'unreachable' : 'degraded'
}

/**
 * The failure to show: first one of the agent's own answer, then one of its card, then the demand of an agent that is
 * alive.
 */
function shownFailure(signals: readonly Signal[]): FailureClass | null {
  const failing = order.flatMap((name) => signals.filter(({ signal, failure }) => signal === name && failure))
  return (failing.find(({ ok }) => !ok) ?? failing[0])?.failure ?? null
}

const order = ['answer', 'card', 'form'] as const
