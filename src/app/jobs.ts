import { randomUUID } from 'node:crypto'
import { type LeasedJobOptions, startLeasedJob } from '../registry/leased-job.ts'
import { runMilliseconds } from '../registry/webhooks/deliverer.ts'
import { createAbandonedTasks } from '../transports/a2a/abandoned.ts'
import type { Gateway } from './gateway.ts'

type GatewayJob = Pick<LeasedJobOptions, 'job' | 'lease' | 'beat_ms' | 'limit_ms'>

/** Milliseconds between two runs of liveness probes. */
const probeInterval = 10_000
/** Milliseconds between two looks whether a day has passed since the last sweep. */
const sweepInterval = 10 * 60_000
/** A sweep reads the whole log of changes, which is long in a large registry. */
const sweepLimit = 60 * 60_000
/** Milliseconds between two runs of webhook deliveries. */
const deliveryInterval = 1000
/** Maximum time of a run: it starts no delivery in the second half, and no attempt takes longer than half of it. */
const deliveryLimit = 2 * runMilliseconds

/** Milliseconds between two looks for tasks whose process died, and the maximum time of one, which only begins the work. */
const taskInterval = 5000
const taskLimit = 30_000

/** Each mirror has a lease of its own, so this one need not outlast a run. */
const mirrorLimit = 10_000

/**
 * The background jobs of a gateway. Each job runs under a lease: of all processes that share the store, one at a time
 * runs the job.
 */
export function startJobs(gateway: Gateway): AsyncDisposable {
  const { verification, changes, liveness, survey, sweep, mirrors, store, onErrorOf, config, clock } = gateway
  const probes: GatewayJob = { lease: 'liveness', job: liveness.prober, beat_ms: probeInterval }
  const surveys: GatewayJob = { lease: 'survey', job: survey, beat_ms: probeInterval }
  const jobs: GatewayJob[] = [
    { lease: 'checks', job: verification.checker },
    { lease: 'retention', job: sweep, beat_ms: sweepInterval, limit_ms: sweepLimit },
    { lease: 'webhooks', job: changes.deliverer, beat_ms: deliveryInterval, limit_ms: deliveryLimit },
    { lease: 'mirrors', job: mirrors, limit_ms: mirrorLimit },
    { lease: 'tasks', job: createAbandonedTasks(gateway), beat_ms: taskInterval, limit_ms: taskLimit },
    ...(config.DRAGOMAN_LIVENESS === 'on' ? [probes] : []),
    ...(config.DRAGOMAN_PROBE === 'on' ? [surveys] : []),
  ]
  const stack = new AsyncDisposableStack()
  for (const each of jobs) {
    const onError = onErrorOf(each.lease)
    stack.use(startLeasedJob({ ...each, leases: store.leases, holder: randomUUID(), clock, onError }))
  }
  return stack
}
