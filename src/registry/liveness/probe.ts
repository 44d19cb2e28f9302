import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Signal, StoredLiveness } from '../../../schemas/liveness.ts'
import type { Fetch } from '../../net/fetch/fetch.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { kindOf } from '../capabilities/access.ts'
import { type CardProbe, probeCard } from './card-probe.ts'
import { answers, classOf } from './failure-class.ts'
import type { PerOriginThrottle } from './per-origin-throttle.ts'
import { maxProtocolGap } from './schedule.ts'
import type { ProbeResult } from './status-rules.ts'

/** An agent that can be probed in its own protocol. */
export interface Probeable {
  /** The URL of the agent's endpoint. */
  readonly url: string
  /**
   * Resolves if the agent answers in its protocol; to its refusal if it refused. Has no side effects at the agent.
   * Throws Failure.
   */
  ask(signal: AbortSignal): Promise<Failure | undefined>
}

export interface ProbeOptions {
  readonly fetch: Fetch
  readonly clock: () => number
  readonly throttle: PerOriginThrottle
  /** Undefined if the entry has no endpoint in a supported protocol. */
  readonly probeable: (entry: EntryDetail) => Probeable | undefined
  readonly detail: (stored: StoredEntry) => EntryDetail
  /** Time-out of one request, in milliseconds. */
  readonly timeout_ms: number
}

/** The result of a probe, and whether the card has changed. */
interface Found extends ProbeResult {
  readonly has_changed: boolean
}

/**
 * Probes an agent: its card by one conditional request and, if that is not enough or `thorough` is set, the agent
 * itself. Undefined if the entry has nothing to probe. Throws the signal's reason.
 */
export async function probeEntry(
  stored: StoredEntry,
  before: StoredLiveness,
  thorough: boolean,
  options: ProbeOptions,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const { throttle } = options
  const { manifest_url } = stored
  const card =
    manifest_url === null
      ? undefined
      : await throttle(manifest_url, signal, () => probeCard(manifest_url, before.card, options, signal))
  const isEnough = card && !thorough && !callsForMore(card, before, options.clock())
  const probeable = isEnough ? undefined : options.probeable(options.detail(stored))
  const answer =
    probeable && (await throttle(probeable.url, signal, () => ask(probeable, options.timeout_ms, signal)))
  if (!card && !answer) return undefined
  const signals = [...(card?.signals ?? []), ...(answer ? [answer.signal] : [])]
  return {
    signals,
    card: card?.card ?? null,
    is_live: answer ? answer.signal.ok : (card?.is_reachable ?? false),
    has_changed: card?.has_changed ?? false,
    access: answer?.answered && kindOf(answer.answered.refusal, stored),
    retry_after_s: Math.max(card?.retry_after_s ?? 0, answer?.retry_after_s ?? 0),
  }
}

/** True if the card is new, fails or has changed, if the agent did not answer last time, and once a day. */
function callsForMore(
  card: CardProbe,
  { asked_at, asked_failure, ...before }: StoredLiveness,
  now: number,
): boolean {
  if (before.card === null || card.has_changed || card.signals.some(({ ok }) => !ok)) return true
  if (asked_at === null || asked_failure !== null) return true
  const since = now - Date.parse(asked_at)
  return since >= maxProtocolGap || since < 0
}

interface Answer {
  readonly signal: Signal
  readonly answered?: { readonly refusal: Failure | undefined }
  readonly retry_after_s?: number | undefined
}

async function ask({ url, ask }: Probeable, timeout_ms: number, signal: AbortSignal): Promise<Answer> {
  const started = performance.now()
  const failed = (failure: Signal['failure'], detail: string | null, retry_after_s?: number): Answer => {
    const ok = failure === null || answers(failure)
    const ms = ok ? Math.round(performance.now() - started) : null
    return { signal: { signal: 'answer', ok, failure, detail, ms }, retry_after_s }
  }
  const limit = AbortSignal.timeout(timeout_ms)
  try {
    const refusal = await ask(AbortSignal.any([signal, limit]))
    const failure = refusal && classOf(refusal)
    const answer = failure && answers(failure) ? failed(failure, refusal.message) : failed(null, null)
    return { ...answer, answered: { refusal } }
  } catch (thrown) {
    signal.throwIfAborted()
    if (limit.aborted) return failed('timeout', `${new URL(url).host} did not answer in time.`)
    if (thrown instanceof Failure)
      return failed(classOf(thrown), thrown.message, thrown.details.retry_after_s)
    throw thrown
  }
}
