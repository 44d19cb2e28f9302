import type { Agent } from '../../schemas/action.ts'
import type { Step, StoredSession } from '../../schemas/playground.ts'
import type { Principal } from '../../schemas/scope.ts'

export type PlaygroundCaller = Principal | null

/** What the playground needs of whoever keeps its sessions. A session is `not_found` to all but its owner. */
export interface Sessions {
  /** A new session: the caller's, or nobody's where the caller has no token. */
  create(caller: PlaygroundCaller): Promise<StoredSession>
  /** Throws Failure `not_found` where there is no such session, or no longer, or it is another's. */
  find(id: string, caller: PlaygroundCaller): Promise<StoredSession>
  /** Makes sure that one more call can be kept. Throws Failure `not_found`, `too_large`. */
  reserve(id: string, caller: PlaygroundCaller): Promise<void>
  /** Keeps a call and answers with its number. Throws Failure `not_found`. */
  keep(id: string, step: Omit<Step, 'number'>): Promise<number>
  /** Steps behind `after`, as many as one answer takes. */
  steps(id: string, after: number): Promise<readonly Step[]>
  /**
   * Steps behind `after`, then each new one, whichever process keeps it, until the session is over or the signal
   * aborts. Throws Failure `rate_limited` where too many watch.
   */
  follow(id: string, after: number, signal: AbortSignal): AsyncIterable<Step>
  remove(id: string): Promise<void>
}

export interface PlaygroundNeeds {
  readonly sessions: Sessions
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** The agents hosted here, for their tools. */
  readonly agents: () => readonly Agent[]
  /** Where callers reach the gateway, without a slash at the end. */
  readonly base_url: () => string
}
