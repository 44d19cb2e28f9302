import { Failure } from '../../../schemas/failure.ts'
import { type Clock, monotonic, type Wait } from '../../common/clock.ts'
import { createRate } from '../../common/rate.ts'
import { createKeyedSemaphore, createSemaphore } from '../../common/semaphore.ts'
import type { UpstreamLimits } from '../../common/upstream.ts'
import { circuitOpen, createCircuit, paceExceeded } from './circuit.ts'

/**
 * Runs an attempt once the upstream's limits allow it. The attempt may tell that the upstream has begun a task: from then
 * on its long work holds no slot.
 */
export type UpstreamPolicy = <Value>(
  signal: AbortSignal,
  attempt: (begun: () => void) => Promise<Value>,
  caller?: string,
) => Promise<Value>

interface PolicyLimits extends UpstreamLimits {
  /** Maximum wait for a slot, in milliseconds; no limit when absent. */
  readonly max_slot_wait_ms?: number
  /** Number of callers whose failures open the circuit; 1 when absent. */
  readonly callers_to_open?: number
}

/** Attempts that wait for a slot, per semaphore. */
const maxWaiting = 100
/** Maximum wait of an attempt for its turn, in milliseconds. */
export const maxWait_ms = 3_000

/**
 * The circuit, the rate and the semaphores of one upstream. Throws Failure `circuit_open` or `rate_limited` with
 * `retry_after_s` if the upstream must not be called now, `cancelled`, and the errors of the attempt.
 */
export function createUpstreamPolicy(
  host: string,
  limits: PolicyLimits,
  clock: Clock,
  wait: Wait,
): UpstreamPolicy {
  const { max_in_flight, max_in_flight_per_caller, max_slot_wait_ms, max_tasks = 0 } = limits
  let tasks = 0
  const time = monotonic(clock)
  const circuit = createCircuit(host, time, limits)
  const takeTurn = createRate(limits, maxWait_ms, time, wait)
  const queueFull = () => circuitOpen(host, maxWait_ms)
  const acquire = createSemaphore(max_in_flight, maxWaiting, queueFull)
  const acquireForCaller =
    max_in_flight_per_caller === undefined
      ? undefined
      : createKeyedSemaphore(max_in_flight_per_caller, maxWaiting, queueFull)

  async function acquireWithin(max_ms: number, signal: AbortSignal): Promise<Disposable> {
    const late = new AbortController()
    const settled = new AbortController()
    const end = () => late.abort(paceExceeded(host, max_ms))
    wait(max_ms, settled.signal).then(end, () => {})
    try {
      return await acquire(AbortSignal.any([signal, late.signal]))
    } finally {
      settled.abort()
    }
  }

  return async (signal, attempt, caller = '') => {
    try {
      circuit.check()
      // Most calls wait for nothing, and each `await` costs as much as the work between two of them.
      const turn = takeTurn(signal)
      const refused = turn instanceof Promise ? await turn : turn
      if (refused !== undefined) throw paceExceeded(host, refused.wait_ms)
      const ofCaller = acquireForCaller?.(caller, signal)
      using callerSlot = ofCaller instanceof Promise ? await ofCaller : ofCaller
      const ofAll = max_slot_wait_ms === undefined ? acquire(signal) : acquireWithin(max_slot_wait_ms, signal)
      using slot = ofAll instanceof Promise ? await ofAll : ofAll
      let isTask = false
      const begin = () => {
        if (isTask || tasks >= max_tasks) return
        isTask = true
        tasks++
        slot[Symbol.dispose]()
        callerSlot?.[Symbol.dispose]()
      }
      try {
        return await circuit.run(attempt, caller, begin)
      } finally {
        if (isTask) tasks--
      }
    } catch (thrown) {
      if (!signal.aborted || thrown instanceof Failure) throw thrown
      throw Failure.cancelled(signal)
    }
  }
}
