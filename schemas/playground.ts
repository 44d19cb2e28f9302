import { z } from 'zod'

const StepProblem = z
  .looseObject({
    code: z.string().describe('The stable code of the failure.'),
    detail: z.string(),
  })
  .meta({ id: 'StepProblem' })

/** One call in a session, and its result: `output`, `cut` or `failure`. */
export const Step = z
  .object({
    number: z.int().describe('Number of the step, from 1, in the order in which the calls ended.'),
    kind: z.enum(['discover', 'execute']),
    by: z
      .enum(['anonymous', 'token'])
      .describe('The rights under which the call ran: those of the session or of a token.'),
    started_at: z.iso.datetime(),
    duration_ms: z.int(),
    envelope: z
      .object({ to: z.string(), action: z.string(), params: z.record(z.string(), z.unknown()) })
      .meta({ id: 'StepEnvelope' }),
    output: z.unknown().optional().describe('The unchanged answer.'),
    cut: z
      .object({ text: z.string().describe('The beginning of the answer, as JSON.'), bytes: z.int() })
      .meta({ id: 'CutAnswer' })
      .optional()
      .describe('Replaces an answer that is too long to store; bytes is its length.'),
    failure: StepProblem.optional().describe('The problem that the caller received.'),
  })
  .meta({ id: 'Step' })
export type Step = z.infer<typeof Step>

/** A playground session as stored. Times are ISO 8601 in UTC. */
export interface Session {
  readonly id: string
  /** Principal key; null for an anonymous session. */
  readonly owner: string | null
  /** The network address that an anonymous session counts against; null for a local process and with an owner. */
  readonly counted_by: string | null
  readonly created_at: string
  /** The time when the session is deleted. */
  readonly expires_at: string
}

export interface StoredSession extends Session {
  /** Maximum number of steps. */
  readonly steps: number
}

/** Limits of the sessions of one owner, of one address or of all anonymous callers: sessions, and characters of their steps. */
export interface PoolBounds {
  readonly sessions: number
  readonly characters: number
}

/** The pools of a session: that of its owner or its address, and, without an owner, that of all anonymous callers. */
export interface SessionPools {
  readonly own: PoolBounds
  readonly anonymous: PoolBounds
}

export interface SessionBounds {
  readonly steps: number
  /** Maximum characters of steps; a session above it takes no further steps. */
  readonly characters: number
}

/** Playground sessions. They have no revision and are not in the change log. No method returns an expired session. */
export interface SessionStore {
  /**
   * Adds a session. If a pool has too many, deletes other sessions of the pool: those with the fewest steps, the oldest
   * first.
   */
  add(session: Session, pools: SessionPools): Promise<void>
  get(id: string): Promise<StoredSession | undefined>
  /** The number of sessions of an owner. */
  count(owner: string): Promise<number>
  /** Reserves one more step, once for each call. */
  reserve(id: string, bounds: SessionBounds): Promise<'reserved' | 'full' | 'gone'>
  /**
   * Stores a step and returns its number; undefined if the session no longer exists. If the steps of a pool are then
   * too long, other sessions of the pool are deleted, the largest first.
   */
  append(id: string, step: Omit<Step, 'number'>, pools: SessionPools): Promise<number | undefined>
  /** Steps after number `after`, in order; at least one, and fewer than exist if they are long. */
  steps(id: string, after: number, characters: number): Promise<readonly Step[]>
  /** Deletes the session and its steps. */
  remove(id: string): Promise<void>
}
