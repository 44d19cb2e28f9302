import type { Wait } from '../common/clock.ts'
import type { Site } from '../registry/entry/site.ts'
import { createViews } from '../registry/entry/view.ts'
import { createLivenessCache, type LivenessCache } from '../registry/liveness/liveness-cache.ts'
import { createPerOriginThrottle } from '../registry/liveness/per-origin-throttle.ts'
import { createProber, type Prober, type ProberOptions } from '../registry/liveness/prober.ts'
import { createReprobe, type Reprobe } from '../registry/liveness/reprobe.ts'

/** Who is alive: found out by one process, shown by all. */
export interface LivenessService extends Disposable {
  readonly livenessCache: LivenessCache
  readonly prober: Prober
  /** What calls tell of agents, for as long as calls can be made. */
  readonly reprobe: () => Reprobe
  /** Resolves once what was found out before this start is shown. */
  readonly ready: Promise<void>
}

export interface LivenessPorts
  extends Pick<ProberOptions, 'store' | 'clock' | 'fetch' | 'askable' | 'onCard' | 'onError'> {
  readonly site: () => Site
  readonly wait: Wait
  readonly random?: ProberOptions['random'] | undefined
  /** For one request of a look; 8,000 when left out. */
  readonly timeout_ms?: number | undefined
  /** Between two requests to one origin; 250 when left out. */
  readonly gap_ms?: number | undefined
}

/** Figures of agents whose status stands are shown as they were at most so long ago. */
const sweepMilliseconds = 10 * 60_000

export function openLiveness({ site, wait, gap_ms = 250, ...ports }: LivenessPorts): LivenessService {
  const livenessCache = createLivenessCache(ports.store.liveness)
  const { random = Math.random, timeout_ms = 8_000 } = ports
  const { detail } = createViews(site, livenessCache)
  const prober = createProber({
    ...ports,
    random,
    timeout_ms,
    courtesy: createPerOriginThrottle(gap_ms, wait),
    detail: (stored) => detail(stored, null),
  })
  const sweep = () => livenessCache.sweep().catch(ports.onError)
  const timer = setInterval(sweep, sweepMilliseconds).unref()
  const reprobe = () => createReprobe({ ...ports, read: ports.store.read, prober })
  return { livenessCache, prober, reprobe, ready: sweep(), [Symbol.dispose]: () => clearInterval(timer) }
}
