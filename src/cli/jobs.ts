import { randomUUID } from 'node:crypto'
import type { Gateway } from '../app/gateway.ts'
import { type CheckLoopOptions, startChecks } from '../registry/verification/check-loop.ts'
import { runMilliseconds } from '../registry/webhooks/deliverer.ts'

type Job = Pick<CheckLoopOptions, 'checker' | 'beat_ms' | 'lease_ms'> & { readonly lease: string }

/** Milliseconds: what is looked at in between is written down together. */
const looksEvery = 10_000
/** Milliseconds between two looks at what webhooks wait for. */
const deliversEvery = 1000
/** Milliseconds: a run begins nothing in its second half, and no attempt takes longer than that. */
const deliversFor = 2 * runMilliseconds

/** What a gateway does unasked, each under a lease of its own: of all that share the store one does it at a time. */
export function startJobs({ verification, changes, liveness, store, log, config }: Gateway): AsyncDisposable {
  const probes: Job = { lease: 'liveness', checker: liveness.prober, beat_ms: looksEvery }
  const jobs: Job[] = [
    { lease: 'checks', checker: verification.checker },
    { lease: 'webhooks', checker: changes.deliverer, beat_ms: deliversEvery, lease_ms: deliversFor },
    ...(config.DRAGOMAN_LIVENESS === 'on' ? [probes] : []),
  ]
  const stack = new AsyncDisposableStack()
  for (const job of jobs) {
    const onError = (fault: unknown) => log.error({ err: fault }, job.lease)
    stack.use(startChecks({ ...job, leases: store.leases, holder: randomUUID(), clock: Date.now, onError }))
  }
  return stack
}
