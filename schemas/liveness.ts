import { z } from 'zod'

/**
 * Whether an agent answers. `unknown`: never asked, or there is nothing to ask. `degraded`: a signal fails, or the
 * agent has been silent for a few looks. `dead`: silent look after look. `stale`: a week without a sign of life.
 */
export const LivenessStatus = z.enum(['unknown', 'alive', 'degraded', 'dead', 'stale'])
export type LivenessStatus = z.infer<typeof LivenessStatus>

/** What a look at an agent ran into. Of `auth_required` and `rate_limited` the agent is alive all the same. */
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

/** How an agent has fared, as each entry shows it. */
export const Liveness = z.object({
  status: LivenessStatus,
  since: time.nullable().describe('When it came to be so.'),
  checked_at: time.nullable().describe('When the gateway last looked.'),
  last_ok: time.nullable().describe('When the agent last gave a sign of life.'),
  uptime_30d: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Share of the last 30 days in which it answered; null until there is time to tell.'),
  p50_ms: milliseconds.describe('Half of its last answers came sooner.'),
  p95_ms: milliseconds,
  failure: FailureClass.nullable().describe('What the last look ran into.'),
})
export type Liveness = z.infer<typeof Liveness>

/** What came of one signal: the card is reachable, it is well-formed, the agent answers in its protocol. */
export const Signal = z.object({
  signal: z.enum(['card', 'form', 'answer']),
  ok: z.boolean(),
  failure: FailureClass.nullable(),
  detail: z.string().nullable(),
  ms: milliseconds.describe('What the request took.'),
})
export type Signal = z.infer<typeof Signal>

/** What came of looking at an agent when somebody asked. */
export const LivenessOutcome = z.object({
  package_name: z.string(),
  liveness: Liveness,
  signals: z.array(Signal).describe('None where the gateway hosts the agent, or there is nothing to ask.'),
})
export type LivenessOutcome = z.infer<typeof LivenessOutcome>

/** Nobody has looked yet. */
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

/** True where the agent answers, false where it does not, null where nobody knows. */
export function isLive(status: LivenessStatus): boolean | null {
  if (status === 'unknown') return null
  return status === 'alive' || status === 'degraded'
}

/** How an agent has fared over 30 days, compactly. */
const History = z.object({
  /** [days since the epoch, seconds in which it answered, seconds watched]. */
  days: z.array(z.tuple([z.int(), z.number(), z.number()])),
  /** Milliseconds that its last answers took. */
  latencies: z.array(z.int()),
})

/** What the next look at an agent has to know of those before, beside what is shown. */
const LivenessNotes = z.object({
  /** Since when no look has found a sign of life, and how many those are. */
  silent_since: z.string().nullable(),
  failures: z.int(),
  history: History,
  /** Validators of the card as it was last read, and its hash. */
  card: z
    .object({
      etag: z.string().nullable(),
      last_modified: z.string().nullable(),
      sha256: z.string(),
      /** Why it is not well-formed; null where it is. */
      malformed: z.string().nullable(),
    })
    .nullable(),
  /** When the agent was last asked in its protocol, and what that ran into. */
  asked_at: z.string().nullable(),
  asked_failure: FailureClass.nullable(),
})

/** How one agent fares. */
export const StoredLiveness = LivenessNotes.extend({
  entry_id: z.string(),
  /** Where it was looked for: manifest URL and endpoints, as JSON. */
  place: z.string(),
  /** When to look again; null: not by itself. RFC 3339. */
  next_at: z.string().nullable(),
  shown: Liveness,
})
export type StoredLiveness = z.infer<typeof StoredLiveness>

/** Whether and where an agent is to be looked for; a null place: there is nothing to look at. */
export interface Watch {
  readonly entry_id: string
  readonly place: string | null
  /** False where it is kept, and not looked at by itself. */
  readonly active: boolean
}

/** How agents fare: no part of their entries. Only a change of a status is a change of the registry. */
export interface LivenessStore {
  get(entryId: string): Promise<StoredLiveness | undefined>
  /** Those to be looked at by now, or implausibly late, the longest due first. Times are RFC 3339. */
  due(now: string, latest: string, limit: number): Promise<readonly StoredLiveness[]>
  /** What is shown of these agents; those never looked at are left out. */
  shown(entryIds: readonly string[]): Promise<ReadonlyMap<string, Liveness>>
  /** What is shown of the first so many written after `sequence`, and the last sequence of these. */
  since(
    sequence: number,
    limit: number,
  ): Promise<{ readonly shown: ReadonlyMap<string, Liveness>; readonly sequence: number }>
  /** Begins, moves or ends looking; what is new or elsewhere is due at once. */
  watch(watches: readonly Watch[]): Promise<number>
  /** Writes down looks, all at once; those at a place that has changed meanwhile are dropped. The revision then. */
  save(results: readonly StoredLiveness[]): Promise<number>
}
