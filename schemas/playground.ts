import { z } from 'zod'

const TaskUpdate = z.looseObject({
  code: z.string().describe('The stable code of the failure.'),
  detail: z.string(),
})

/** One call that a session made, and what came of it: `output`, `cut` or `failure`. */
export const Step = z.object({
  number: z.int().describe('Counts from 1, in the order in which the calls ended.'),
  kind: z.enum(['discover', 'execute']),
  by: z.enum(['anonymous', 'token']).describe('Whose rights it was made with: the session’s or a token’s.'),
  started_at: z.iso.datetime(),
  duration_ms: z.int(),
  envelope: z.object({ to: z.string(), action: z.string(), params: z.record(z.string(), z.unknown()) }),
  output: z.unknown().optional().describe('The answer as it came.'),
  cut: z
    .object({ text: z.string().describe('How the answer begins, as JSON.'), bytes: z.int() })
    .optional()
    .describe('Stands for an answer too long to keep; bytes is how long it was.'),
  failure: TaskUpdate.optional().describe('The problem that the caller was told of.'),
})
export type Step = z.infer<typeof Step>

/** A playground session as the truth holds it. Times are ISO 8601 in UTC. */
export interface Session {
  readonly id: string
  /** [issuer, subject] as JSON; null where nobody in particular made it. */
  readonly owner: string | null
  readonly created_at: string
  /** When it is forgotten. */
  readonly expires_at: string
}

export interface StoredSession extends Session {
  /** How many steps are kept. */
  readonly steps: number
}

/** How many sessions an owner may have, and how many characters their steps may hold; nobody is one owner too. */
export interface PoolBounds {
  readonly sessions: number
  readonly characters: number
}

export interface SessionBounds {
  readonly steps: number
  /** A session whose steps hold as many takes no more. */
  readonly characters: number
}

/** Playground sessions. Not entries: they have no revision and stand in no log of changes. Expired ones are never seen. */
export interface SessionStore {
  /** Adds it, and forgets others of its owner where there are too many: those with the fewest steps, the oldest first. */
  add(session: Session, pool: PoolBounds): Promise<void>
  get(id: string): Promise<StoredSession | undefined>
  /** Takes the room of one more step, once for each call that is made. */
  reserve(id: string, most: SessionBounds): Promise<'reserved' | 'full' | 'gone'>
  /**
   * Keeps a step and answers with its number; undefined where the session is gone. Where its owner's steps are too
   * long then, other sessions are forgotten, those that hold most first.
   */
  append(id: string, step: Omit<Step, 'number'>, pool: PoolBounds): Promise<number | undefined>
  /** In order from behind `after` on; at least one, and fewer than there are where they are long. */
  steps(id: string, after: number, characters: number): Promise<readonly Step[]>
  /** Forgets it with its steps. */
  remove(id: string): Promise<void>
}
