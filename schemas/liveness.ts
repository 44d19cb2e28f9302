import { z } from 'zod'

/**
 * Whether an agent answers. `unknown`: never probed, or it has no endpoint. `degraded`: a signal fails, or a few
 * probes had no answer. `dead`: many probes in a row had no answer. `stale`: no answer for a week.
 */
export const LivenessStatus = z.enum(['unknown', 'alive', 'degraded', 'dead', 'stale'])
export type LivenessStatus = z.infer<typeof LivenessStatus>

/** Why a probe failed. With `auth_required` and `rate_limited` the agent is alive all the same. */
export const FailureClass = z.enum([
  'dns',
  'refused',
  'tls',
  'timeout',
  'broken_off',
  'blocked_address',
  'card_unreachable',
  'card_invalid',
  'server_error',
  'wrong_protocol',
  'invalid_answer',
  'auth_required',
  'rate_limited',
  'no_endpoint',
])
export type FailureClass = z.infer<typeof FailureClass>

const time = z.iso.datetime()
const milliseconds = z.int().nullable()

/** The liveness of an agent, as each entry shows it. */
export const Liveness = z.object({
  status: LivenessStatus,
  since: time.nullable().describe('Since when the status holds.'),
  checked_at: time.nullable().describe('When the gateway last probed the agent.'),
  last_ok: time.nullable().describe('When the agent last answered.'),
  uptime_30d: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Share of the last 30 days in which it answered; null while the history is too short.'),
  p50_ms: milliseconds.describe('Median latency of its last answers.'),
  p95_ms: milliseconds,
  failure: FailureClass.nullable().describe('Why the last probe failed.'),
})
export type Liveness = z.infer<typeof Liveness>

/** One signal of a probe: the card is reachable, it is well-formed, the agent answers in its protocol. */
export const Signal = z.object({
  signal: z.enum(['card', 'form', 'answer']),
  ok: z.boolean(),
  failure: FailureClass.nullable(),
  detail: z.string().nullable(),
  ms: milliseconds.describe('Duration of the request.'),
})
export type Signal = z.infer<typeof Signal>

/** The result of a probe that a caller asked for. */
export const LivenessOutcome = z.object({
  package_name: z.string(),
  liveness: Liveness,
  signals: z.array(Signal).describe('Empty where the gateway hosts the agent, or the agent has no endpoint.'),
})
export type LivenessOutcome = z.infer<typeof LivenessOutcome>

/** Not probed yet. */
export const unseen: Liveness = Object.freeze({
  status: 'unknown',
  since: null,
  checked_at: null,
  last_ok: null,
  uptime_30d: null,
  p50_ms: null,
  p95_ms: null,
  failure: null,
})

/** True where the agent answers, false where it does not, null where it is unknown. */
export function isLive(status: LivenessStatus): boolean | null {
  if (status === 'unknown') return null
  return status === 'alive' || status === 'degraded'
}

/** The compact liveness history of 30 days. */
const History = z.object({
  /** [days since the epoch, seconds in which it answered, seconds observed]. */
  days: z.array(z.tuple([z.int(), z.number(), z.number()])),
  /** Latencies of its last answers, in milliseconds. */
  latencies: z.array(z.int()),
})

/** What the next probe needs from earlier ones, beside what is shown. */
const LivenessNotes = z.object({
  /** Since when no probe was answered, and how many those were. */
  silent_since: z.string().nullable(),
  failures: z.int(),
  history: History,
  /** Cache validators and hash of the card as last read. */
  card: z
    .object({
      etag: z.string().nullable(),
      last_modified: z.string().nullable(),
      sha256: z.string(),
      /** Why the card is malformed; null where it is well-formed. */
      malformed: z.string().nullable(),
    })
    .nullable(),
  /** When the agent was last asked in its own protocol, and why that failed. */
  asked_at: z.string().nullable(),
  asked_failure: FailureClass.nullable(),
})

/** The stored liveness of one agent. */
export const StoredLiveness = LivenessNotes.extend({
  entry_id: z.string(),
  /** What was probed: manifest URL and endpoints, as JSON. */
  place: z.string(),
  /** When to probe again; null: not automatically. RFC 3339. */
  next_at: z.string().nullable(),
  shown: Liveness,
})
export type StoredLiveness = z.infer<typeof StoredLiveness>

/** Whether and where an agent is probed; a null place: there is nothing to probe. */
export interface Watch {
  readonly entry_id: string
  readonly place: string | null
  /** False where the row is kept but not probed automatically. */
  readonly active: boolean
}

/** Liveness of agents, apart from their entries. Only a change of status is a change of the registry. */
export interface LivenessStore {
  get(entryId: string): Promise<StoredLiveness | undefined>
  /** The agents due by `now`, or due implausibly late; the longest due first. Times are RFC 3339. */
  due(now: string, latest: string, limit: number): Promise<readonly StoredLiveness[]>
  /** The liveness of these agents; those never probed are left out. */
  shown(entryIds: readonly string[]): Promise<ReadonlyMap<string, Liveness>>
  /** The liveness of the first rows written after `sequence`, and the last sequence of these. */
  since(
    sequence: number,
    limit: number,
  ): Promise<{ readonly shown: ReadonlyMap<string, Liveness>; readonly sequence: number }>
  /** Starts, changes or ends probing; a new or moved agent is due at once. */
  watch(watches: readonly Watch[]): Promise<number>
  /**
   * Writes probe results in one transaction; results for a place that has changed since are dropped. Returns the
   * revision.
   */
  save(results: readonly StoredLiveness[]): Promise<number>
}
