import { z } from 'zod'

const TaskUpdate = z.looseObject({
  code: z.string().describe('The stable code of the failure.'),
  detail: z.string(),
})

/** One call that a session made, and its result: `output`, `cut` or `failure`. */
export const Step = z.object({
  number: z.int().describe('Number of the step, from 1, in the order in which the calls ended.'),
  kind: z.enum(['discover', 'execute']),
  by: z.enum(['anonymous', 'token']).describe('Whose rights the call had: the session’s or a token’s.'),
  started_at: z.iso.datetime(),
  duration_ms: z.int(),
  envelope: z.object({ to: z.string(), action: z.string(), params: z.record(z.string(), z.unknown()) }),
  output: z.unknown().optional().describe('The answer as it came.'),
  cut: z
    .object({ text: z.string().describe('The beginning of the answer, as JSON.'), bytes: z.int() })
    .optional()
    .describe('Replaces an answer that is too long to store; bytes is its length.'),
  failure: TaskUpdate.optional().describe('The problem that the caller received.'),
})
export type Step = z.infer<typeof Step>

/** A playground session as stored. Times are ISO 8601 in UTC. */
export interface Session {
  readonly id: string
  /** Principal key; null for an anonymous session. */
  readonly owner: string | null
  readonly created_at: string
  /** When the session is deleted. */
  readonly expires_at: string
}

export interface StoredSession extends Session {
  /** Maximum number of steps. */
  readonly steps: number
}

/** Limits of one owner: sessions, and characters of their steps. All anonymous sessions have one owner together. */
export interface PoolBounds {
  readonly sessions: number
  readonly characters: number
}

export interface SessionBounds {
  readonly steps: number
  /** Characters of steps after which a session takes no more. */
  readonly characters: number
}

/** Playground sessions. They have no revision and are not in the change log. Expired ones are never returned. */
export interface SessionStore {
  /**
   * Adds a session and deletes others of its owner where there are too many: those with the fewest steps, the oldest
   * first.
   */
  add(session: Session, pool: PoolBounds): Promise<void>
  get(id: string): Promise<StoredSession | undefined>
  /** Reserves one more step, once for each call. */
  reserve(id: string, most: SessionBounds): Promise<'reserved' | 'full' | 'gone'>
  /**
   * Stores a step and returns its number; undefined where the session is gone. Where its owner's steps are then too
   * long, other sessions are deleted, the largest first.
   */
  append(id: string, step: Omit<Step, 'number'>, pool: PoolBounds): Promise<number | undefined>
  /** Steps after number `after`, in order; at least one, fewer than exist where they are long. */
  steps(id: string, after: number, characters: number): Promise<readonly Step[]>
  /** Deletes the session and its steps. */
  remove(id: string): Promise<void>
}
