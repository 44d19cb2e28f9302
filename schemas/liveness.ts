import { z } from 'zod'
import { AccessReport } from './callable.ts'

/**
 * The liveness status of an agent. `unknown`: never probed, or it has no endpoint. `degraded`: a signal fails, or a
 * few probes had no answer. `unreachable`: nothing has ever answered at its address. `dead`: many probes in a row had no answer. `stale`: no answer for a week.
 */
export const LivenessStatus = z
  .enum(['unknown', 'alive', 'degraded', 'unreachable', 'dead', 'stale'])
  .meta({ id: 'LivenessStatus' })
export type LivenessStatus = z.infer<typeof LivenessStatus>

/** The reason why a probe failed. An agent with `auth_required` or `rate_limited` is alive. */
export const FailureClass = z
  .enum([
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
    'not_configured',
  ])
  .meta({ id: 'FailureClass' })
export type FailureClass = z.infer<typeof FailureClass>

const time = z.iso.datetime()
const milliseconds = z.int().nullable()

/** The liveness of an agent, as shown in each entry. */
export const Liveness = z
  .object({
    status: LivenessStatus,
    since: time.nullable().describe('Time since which the status is unchanged.'),
    checked_at: time.nullable().describe('Time of the last probe.'),
    last_ok: time.nullable().describe('Time of the last answer of the agent.'),
    uptime_30d: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe(
        'Share of the last 30 days in which the agent answered; null while the history is too short.',
      ),
    p50_ms: milliseconds.describe('Median latency of the last answers.'),
    p95_ms: milliseconds,
    failure: FailureClass.nullable().describe('The reason why the last probe failed.'),
    access: AccessReport.nullable()
      .default(null)
      .describe('What the agent asks a caller for; null if it did not tell.'),
  })
  .meta({ id: 'Liveness' })
export type Liveness = z.infer<typeof Liveness>

/** One signal of a probe: the card is reachable, the card is well-formed, or the agent answers in its protocol. */
export const Signal = z
  .object({
    signal: z.enum(['card', 'form', 'answer']),
    ok: z.boolean(),
    failure: FailureClass.nullable(),
    detail: z.string().nullable(),
    ms: milliseconds.describe('Duration of the request.'),
  })
  .meta({ id: 'Signal' })
export type Signal = z.infer<typeof Signal>

/** The result of a probe that a caller asked for. */
export const LivenessOutcome = z
  .object({
    package_name: z.string(),
    liveness: Liveness,
    signals: z.array(Signal).describe('Empty if the gateway hosts the agent, or the agent has no endpoint.'),
  })
  .meta({ id: 'LivenessOutcome' })
export type LivenessOutcome = z.infer<typeof LivenessOutcome>

/** The liveness of an agent that has not been probed yet. */
export const unseen: Liveness = Object.freeze({
  status: 'unknown',
  since: null,
  checked_at: null,
  last_ok: null,
  uptime_30d: null,
  p50_ms: null,
  p95_ms: null,
  failure: null,
  access: null,
})

/** True if the agent answers, false if it does not, null if this is unknown. */
export function isLive(status: LivenessStatus): boolean | null {
  if (status === 'unknown') return null
  return status === 'alive' || status === 'degraded'
}

/** The compact liveness history of 30 days. */
const History = z.object({
  /** [days since the epoch, seconds in which the agent answered, seconds observed]. */
  days: z.array(z.tuple([z.int(), z.number(), z.number()])),
  /** Latencies of the last answers, in milliseconds. */
  latencies: z.array(z.int()),
  /** The probes of the last day on which there was one; `day` counts from the epoch. */
  today: z
    .object({
      day: z.int(),
      probes: z.int(),
      failures: z.int(),
      latencies: z.array(z.int()),
      p50_ms: milliseconds,
      p95_ms: milliseconds,
    })
    .optional(),
})

/** What the probes of one day found. */
const LivenessDay = z
  .object({
    date: z.iso.date().describe('The day in UTC.'),
    probes: z.int(),
    failures: z.int().describe('Probes that the agent did not answer.'),
    p50_ms: milliseconds.describe('Median latency of the answers of that day.'),
    p95_ms: milliseconds,
  })
  .meta({ id: 'LivenessDay' })
type LivenessDay = z.infer<typeof LivenessDay>

/** The liveness of an agent by days. */
export const LivenessHistory = z
  .object({
    package_name: z.string(),
    from: z.iso.date().describe('The first day of the span, in UTC.'),
    to: z.iso.date().describe('The last day: today.'),
    days: z.array(LivenessDay).describe('In order. Days without a probe are left out.'),
  })
  .meta({ id: 'LivenessHistory' })
export type LivenessHistory = z.infer<typeof LivenessHistory>

/** Data of earlier probes that the next probe needs, in addition to the public fields. */
const LivenessNotes = z.object({
  /** Time of the first of the last probes without an answer, and the number of these probes. */
  silent_since: z.string().nullable(),
  failures: z.int(),
  history: History,
  /** Cache validators and hash of the card as last read. */
  card: z
    .object({
      etag: z.string().nullable(),
      last_modified: z.string().nullable(),
      sha256: z.string(),
      /** The reason why the card is malformed; null if it is well-formed. */
      malformed: z.string().nullable(),
    })
    .nullable(),
  /** Time of the last request in the agent's own protocol, and the reason if it failed. */
  asked_at: z.string().nullable(),
  asked_failure: FailureClass.nullable(),
})

/** The stored liveness of one agent. */
export const StoredLiveness = LivenessNotes.extend({
  entry_id: z.string(),
  /** The probed addresses: manifest URL and endpoints, as JSON. */
  place: z.string(),
  /** Time of the next probe, RFC 3339; null: no automatic probes. */
  next_at: z.string().nullable(),
  shown: Liveness,
})
export type StoredLiveness = z.infer<typeof StoredLiveness>

/** Whether and at which address an agent is probed; a null `place` means that the agent has no address to probe. */
export interface Watch {
  readonly entry_id: string
  readonly place: string | null
  /** False if the row is kept but the agent is not probed automatically. */
  readonly active: boolean
}

/** Liveness of agents, stored apart from their entries. Only a change of status is a change of the registry. */
export interface LivenessStore {
  get(entryId: string): Promise<StoredLiveness | undefined>
  /**
   * The agents due by `now`, or due implausibly late; the agent that is due longest comes first. Times are RFC 3339.
   */
  due(now: string, latest: string, limit: number): Promise<readonly StoredLiveness[]>
  /** The liveness of these agents; agents that were never probed are left out. */
  shown(entryIds: readonly string[]): Promise<ReadonlyMap<string, Liveness>>
  /** The liveness of the first rows written after `sequence`, and the last sequence of these rows. */
  since(
    sequence: number,
    limit: number,
  ): Promise<{ readonly shown: ReadonlyMap<string, Liveness>; readonly sequence: number }>
  /** The days of one agent from a day on, which counts from the epoch; in order. */
  days(entryId: string, from: number): Promise<readonly LivenessDay[]>
  /** Starts, changes or ends probing; a new or moved agent is due at once. */
  watch(watches: readonly Watch[]): Promise<number>
  /**
   * Writes probe results in one transaction. A result for an address that has changed since is dropped. Returns the
   * revision.
   */
  save(results: readonly StoredLiveness[]): Promise<number>
}
