import type { SessionsOptions } from '../../agents/playground/sessions.ts'
import type { Site } from '../../schemas/site.ts'
import type { Login } from '../auth/logins/login.ts'
import { type Clock, type CorrectedClock, corrected, systemWait, type Wait } from '../common/clock.ts'
import { uuidV7 } from '../common/uuid.ts'
import type { ResolveTxt } from '../net/fetch/resolver.ts'
import type { SafeFetchOptions } from '../net/fetch/safe-fetch.ts'
import type { ChangeFeedOptions } from '../registry/changes/feed.ts'
import type { MirrorLimits } from '../registry/mirror/runner.ts'
import type { Runner } from '../runner/runner.ts'
import { UnreachableEngine } from '../search/elasticsearch/client.ts'
import type { Embedder } from '../search/embedders/embedder.ts'
import { RefusingStore, UnreachableStore, type WriteRefusal } from '../store/store-health.ts'
import { createLogger, type Logger } from '../telemetry/log.ts'
import type { TaskManagerOptions } from '../transports/a2a/tasks/task-manager.ts'
import type { Config } from './config.ts'
import { Outage } from './outage.ts'

/**
 * A reason why a gateway that answers needs its operator: the store refuses writes, has damage, or knows fewer changes
 * than a snapshot that was derived from it; its clock or its keys are others; or the search engine is away or read-only.
 */
export type HealthReason =
  | WriteRefusal
  | 'store_damaged'
  | 'store_behind_index'
  | 'clock_differs'
  | 'keys_differ'
  | 'secret_key_differs'
  | 'search_unavailable'
  | 'search_read_only'

/** The reasons that hold now. */
export type Health = Set<HealthReason>

/** Settings for tests and for commands: replacements of the clock and the network, and shorter times and limits. */
export interface GatewayOptions {
  readonly clock?: Clock
  readonly wait?: Wait
  readonly log?: Logger
  /** Ends a start that waits for its store or its model, by a Failure. */
  readonly signal?: AbortSignal
  /** The shipped model, if it is loaded already. */
  readonly static_embedder?: Embedder
  readonly lookup?: SafeFetchOptions['lookup']
  readonly is_public?: SafeFetchOptions['is_public']
  readonly ports?: SafeFetchOptions['ports']
  readonly resolveTxt?: ResolveTxt
  /** Origin of the files that prove a domain; https://DOMAIN when absent. */
  readonly originOf?: (domain: string) => string
  /** Milliseconds that a listed agent may take for one call. */
  readonly remote_timeout_ms?: number
  /** Maximum time for which a search waits for the index while the gateway starts, in milliseconds; 5,000 when absent. */
  readonly start_wait_ms?: number
  /** Milliseconds for which a call waits for the answer of a person that another call asks for. */
  readonly question_wait_ms?: number
  /** Installs and runs packages. */
  readonly runner?: Runner
  /** Milliseconds that an authorization server of a listed agent may take for one answer; 10,000 when absent. */
  readonly upstream_timeout_ms?: number
  /** The ways for people to log in. */
  readonly logins?: readonly Login[]
  readonly liveness?: {
    readonly random?: () => number
    /** Time-out of one request of a probe, in milliseconds; 8,000 when absent. */
    readonly timeout_ms?: number
    /** Pause between two requests to one origin, in milliseconds; 250 when absent. */
    readonly gap_ms?: number
  }
  readonly tasks?: Pick<TaskManagerOptions, 'limits' | 'times'>
  readonly mirror_limits?: MirrorLimits
  readonly changes?: {
    readonly followers?: ChangeFeedOptions['limits']
    /** Time-out for the answer of a webhook's target, in milliseconds; 10,000 when absent. */
    readonly webhook_timeout_ms?: number
    /** A random number from 0 to 1. */
    readonly random?: () => number
  }
  readonly sessions?: Pick<SessionsOptions, 'limits' | 'poll_ms'>
  /** Fills new indexes of the search engine beside those that serve: see `Gateway.rebuilt`. */
  readonly rebuild_index?: boolean
}

/** The argument of every phase of the start. */
export interface Runtime {
  /** Closes the resources that the phases open, in reverse order. */
  readonly stack: AsyncDisposableStack
  readonly config: Config
  readonly options: GatewayOptions
  /** Follows the clock of the store, so that all gateways of a store agree. */
  readonly clock: Clock
  readonly shiftClock: CorrectedClock['shift']
  readonly wait: Wait
  readonly log: Logger
  readonly health: Health
  readonly outage: Outage
  /** A new UUIDv7. */
  readonly createId: () => string
  readonly site: () => Site
  /** Sets the gateway's URL unless the configuration sets it. */
  reachedAt(url: string): void
  /** Logs the errors of one part of the gateway. */
  onErrorOf(part: string, level?: 'warn' | 'error'): (fault: unknown) => void
}

export function createRuntime(stack: AsyncDisposableStack, config: Config, options: GatewayOptions): Runtime {
  const { wait = systemWait } = options
  const { now: clock, shift: shiftClock } = corrected(options.clock ?? Date.now)
  const log = options.log ?? createLogger(config.DRAGOMAN_LOG ?? 'warn')
  const outage = new Outage('the store', log, clock)
  let reached = `http://${config.HOST}:${config.PORT}`
  return {
    stack,
    config,
    options,
    clock,
    shiftClock,
    wait,
    log,
    health: new Set(),
    outage,
    createId: () => uuidV7(clock()),
    site() {
      const base_url = config.DRAGOMAN_BASE_URL ?? reached
      return { base_url, site_url: config.DRAGOMAN_SITE_URL ?? base_url }
    },
    reachedAt(url) {
      reached = url
    },
    onErrorOf:
      (part, level = 'error') =>
      (fault) => {
        if (fault instanceof UnreachableStore || fault instanceof RefusingStore) outage.note(fault)
        // Its observer has logged the outage.
        else if (!(fault instanceof UnreachableEngine)) log[level]({ err: fault }, part)
      },
  }
}
