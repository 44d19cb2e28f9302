import { Failure } from '../../../schemas/failure.ts'
import { type Clock, monotonic, type Wait } from '../../common/clock.ts'
import { createKeyedSemaphore } from '../../common/keyed-semaphore.ts'
import { createRate } from '../../common/rate.ts'
import { createSemaphore } from '../../common/semaphore.ts'
import type { UpstreamLimits } from '../../common/upstream.ts'
import { circuitOpen, createCircuit } from './circuit.ts'

/** Runs an attempt once the upstream's limits allow it. */
export type UpstreamPolicy = <Value>(
  signal: AbortSignal,
  attempt: () => Promise<Value>,
  caller?: string,
) => Promise<Value>

/** Attempts that wait for a slot, per semaphore. */
const maxWaiting = 100
/** Maximum wait of an attempt for a slot, in milliseconds. */
const maxWait_ms = 3_000

/**
 * The circuit, the rate and the semaphores of one upstream. Throws Failure `circuit_open` with `retry_after_s` if the
 * upstream must not be called now, `cancelled`, and the errors of the attempt.
 */
export function createUpstreamPolicy(
  host: string,
  limits: UpstreamLimits,
  clock: Clock,
  wait: Wait,
): UpstreamPolicy {
  const { max_in_flight, max_in_flight_per_caller, max_rest_ms } = limits
  const time = monotonic(clock)
  const circuit = createCircuit(host, time, max_rest_ms)
  const takeTurn = createRate(limits, maxWait_ms, time, wait)
  const queueFull = () => circuitOpen(host, maxWait_ms)
  const acquire = createSemaphore(max_in_flight, maxWaiting, queueFull)
  const acquireForCaller =
    max_in_flight_per_caller === undefined
      ? undefined
      : createKeyedSemaphore(max_in_flight_per_caller, maxWaiting, queueFull)

  return async (signal, attempt, caller = '') => {
    try {
      circuit.check()
      const refused = await takeTurn(signal)
      if (refused) throw circuitOpen(host, refused.wait_ms)
      using _callerSlot = acquireForCaller && (await acquireForCaller(caller, signal))
      using _slot = await acquire(signal)
      return await circuit.run(attempt)
    } catch (thrown) {
      if (!signal.aborted || thrown instanceof Failure) throw thrown
      throw Failure.cancelled(signal)
    }
  }
}
