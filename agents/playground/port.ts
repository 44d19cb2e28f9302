import type { Agent } from '../../schemas/action.ts'
import type { Step, StoredSession } from '../../schemas/playground.ts'
import type { Principal } from '../../schemas/scope.ts'

export type PlaygroundCaller = Principal | null

/** The sessions of the playground. A session is `not_found` for every caller except its owner. */
export interface Sessions {
  /** Creates a session: owned by the caller, or anonymous if the caller has no token; `address` is then its own. */
  create(caller: PlaygroundCaller, address: string | null): Promise<StoredSession>
  /** Throws Failure `not_found` if the session does not exist, has expired, or belongs to another caller. */
  find(id: string, caller: PlaygroundCaller): Promise<StoredSession>
  /** Reserves one more call. Throws Failure `not_found`, `too_large`. */
  reserve(id: string, caller: PlaygroundCaller): Promise<void>
  /** Stores a call and returns its number. Throws Failure `not_found`. */
  keep(id: string, step: Omit<Step, 'number'>): Promise<number>
  /** Steps after number `after`, as many as one answer may hold. */
  steps(id: string, after: number): Promise<readonly Step[]>
  /**
   * Steps after number `after`, then each new one from any process, until the session ends or the signal aborts.
   * Throws Failure `rate_limited` if too many callers watch.
   */
  follow(id: string, after: number, signal: AbortSignal): AsyncIterable<Step>
  remove(id: string): Promise<void>
}

export interface PlaygroundNeeds {
  readonly sessions: Sessions
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** The hosted agents, for their tools. */
  readonly agents: () => readonly Agent[]
  /** Base URL of the gateway for callers, without a trailing slash. */
  readonly base_url: () => string
}
