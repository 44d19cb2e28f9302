import { randomUUID } from 'node:crypto'
import type { Gateway } from '../app/gateway.ts'
import { type CheckLoopOptions, startChecks } from '../registry/verification/check-loop.ts'
import { runMilliseconds } from '../registry/webhooks/deliverer.ts'

type Job = Pick<CheckLoopOptions, 'checker' | 'beat_ms' | 'lease_ms'> & { readonly lease: string }

/** Milliseconds between two runs of liveness probes. */
const probeInterval = 10_000
/** Milliseconds between two looks whether a day has passed since the last sweep. */
const sweepInterval = 10 * 60_000
/** A sweep reads the whole log of changes, which is long in a large registry; its lease is its time limit. */
const sweepLease = 60 * 60_000
/** Milliseconds between two runs of webhook deliveries. */
const deliveryInterval = 1000
/**
 * Lease of a delivery run, in milliseconds. A run starts no delivery in the second half of its lease, and no attempt
 * takes longer than half of the lease.
 */
const deliveryLease = 2 * runMilliseconds

/** Each mirror has a lease of its own, so this one need not outlast a run. */
const mirrorLease = 10_000

/**
 * The background jobs of a gateway. Each job runs under a lease: of all processes that share the store, one at a time
 * runs the job.
 */
export function startJobs({
  verification,
  changes,
  liveness,
  survey,
  sweep,
  mirrors,
  store,
  onErrorOf,
  config,
}: Gateway): AsyncDisposable {
  const probes: Job = { lease: 'liveness', checker: liveness.prober, beat_ms: probeInterval }
  const surveys: Job = { lease: 'survey', checker: survey, beat_ms: probeInterval }
  const jobs: Job[] = [
    { lease: 'checks', checker: verification.checker },
    { lease: 'retention', checker: sweep, beat_ms: sweepInterval, lease_ms: sweepLease },
    { lease: 'webhooks', checker: changes.deliverer, beat_ms: deliveryInterval, lease_ms: deliveryLease },
    { lease: 'mirrors', checker: mirrors, lease_ms: mirrorLease },
    ...(config.DRAGOMAN_LIVENESS === 'on' ? [probes] : []),
    ...(config.DRAGOMAN_PROBE === 'on' ? [surveys] : []),
  ]
  const stack = new AsyncDisposableStack()
  for (const job of jobs) {
    const onError = onErrorOf(job.lease)
    stack.use(startChecks({ ...job, leases: store.leases, holder: randomUUID(), clock: Date.now, onError }))
  }
  return stack
}
