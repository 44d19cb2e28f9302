import type { Wait } from '../common/clock.ts'
import type { Site } from '../registry/entry/site.ts'
import { createViews } from '../registry/entry/view.ts'
import { createVitals, type Vitals } from '../registry/liveness/liveness-cache.ts'
import { createCourtesy } from '../registry/liveness/per-origin-throttle.ts'
import { createProber, type Prober, type ProberOptions } from '../registry/liveness/prober.ts'
import { createSuspicion, type Suspicion } from '../registry/liveness/reprobe.ts'

/** Who is alive: found out by one process, shown by all. */
export interface LivenessService extends Disposable {
  readonly vitals: Vitals
  readonly prober: Prober
  /** What calls tell of agents, for as long as calls can be made. */
  readonly suspicion: () => Suspicion
  /** Resolves once what was found out before this start is shown. */
  readonly ready: Promise<void>
}

export interface LivenessPorts
  extends Pick<ProberOptions, 'store' | 'clock' | 'fetch' | 'askable' | 'onCard' | 'failed'> {
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
  const vitals = createVitals(ports.store.liveness)
  const { random = Math.random, timeout_ms = 8_000 } = ports
  const { detail } = createViews(site, vitals)
  const prober = createProber({
    ...ports,
    random,
    timeout_ms,
    courtesy: createCourtesy(gap_ms, wait),
    detail: (stored) => detail(stored, null),
  })
  const sweep = () => vitals.sweep().catch(ports.failed)
  const timer = setInterval(sweep, sweepMilliseconds).unref()
  const suspicion = () => createSuspicion({ ...ports, read: ports.store.read, prober })
  return { vitals, prober, suspicion, ready: sweep(), [Symbol.dispose]: () => clearInterval(timer) }
}
