import type { EntryDetail } from '../../schemas/card.ts'
import { createViews } from '../registry/entry/view.ts'
import { createLivenessCache, type LivenessCache } from '../registry/liveness/liveness-cache.ts'
import { createPerOriginThrottle } from '../registry/liveness/per-origin-throttle.ts'
import type { Probeable } from '../registry/liveness/probe.ts'
import { createProber, type Prober } from '../registry/liveness/prober.ts'
import { createReprobe, type Reprobe } from '../registry/liveness/reprobe.ts'
import type { Store } from '../store/store.ts'
import { unconfiguredAgents } from './config.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'

/** Liveness of agents. Of all processes that share the store, one probes at a time; all of them show the results. */
export interface LivenessService {
  readonly livenessCache: LivenessCache
  readonly prober: Prober
  /** Probes agents out of schedule after failed calls; absent where liveness is off. */
  readonly reprobe: Reprobe | undefined
  /** Resolves once the cache holds the results that were stored before this start. */
  readonly ready: Promise<void>
}

interface LivenessPorts {
  /** The entry as an agent that can be probed in its own protocol. */
  readonly probeable: (entry: EntryDetail) => Probeable | undefined
  /** Called when a probe finds that an agent's card has changed. */
  readonly onCard: (id: string, signal: AbortSignal) => Promise<void>
}

/** Maximum age of the figures of agents whose status did not change, in milliseconds. */
const sweepMilliseconds = 10 * 60_000

export function openLiveness(
  runtime: Runtime,
  store: Store,
  outbound: Outbound,
  { probeable, onCard }: LivenessPorts,
): LivenessService {
  const { stack, config, options, clock, wait, site } = runtime
  const { random = Math.random, timeout_ms = 8_000, gap_ms = 250 } = options.liveness ?? {}
  const onError = runtime.onErrorOf('liveness')
  const livenessCache = createLivenessCache(store.liveness, unconfiguredAgents(config))
  const { detail } = createViews(site, livenessCache)
  const prober = createProber({
    store,
    clock,
    fetch: outbound.public.fetch,
    probeable,
    onCard,
    onError,
    random,
    timeout_ms,
    probes_mirrored: config.DRAGOMAN_PROBE === 'on',
    throttle: createPerOriginThrottle(gap_ms, wait),
    detail: (stored) => detail(stored, null),
  })
  const sweep = () => livenessCache.sweep().catch(onError)
  const timer = setInterval(sweep, sweepMilliseconds).unref()
  stack.defer(() => clearInterval(timer))
  const reprobe =
    config.DRAGOMAN_LIVENESS === 'on'
      ? stack.use(createReprobe({ read: store.read, prober, clock, onError }))
      : undefined
  return { livenessCache, prober, reprobe, ready: sweep() }
}
