import { Failure } from '../../../schemas/failure.ts'
import { type Clock, steady, type Wait } from '../../common/clock.ts'
import { createKeyedSemaphore } from '../../common/keyed-semaphore.ts'
import { createRate, type Rate } from '../../common/rate.ts'
import { createSemaphore } from '../../common/semaphore.ts'
import { circuitOpen, createCircuit } from './circuit.ts'

/** How an upstream wants to be treated. */
export interface Limits extends Rate {
  /** How many requests may be under way together; others wait for their turn. */
  readonly together: number
  /** How many of those one caller may have, of callers that are told apart; all when absent. */
  readonly each?: number
  /** How long it is left alone at most when it asks for that, in milliseconds; a day when absent. */
  readonly longest_rest_ms?: number
}

/** Lets an attempt through once its upstream may be asked. */
export type Gate = <Value>(
  signal: AbortSignal,
  attempt: () => Promise<Value>,
  caller?: string,
) => Promise<Value>

const longestQueue = 100
const patience_ms = 3_000

/**
 * The way to one upstream: its circuit, its pace and its places. Throws Failure `circuit_open` with `retry_after_s`
 * where it is not to be asked now, `cancelled`, and what the attempt throws.
 */
export function createGate(host: string, limits: Limits, clock: Clock, wait: Wait): Gate {
  const time = steady(clock)
  const circuit = createCircuit(host, time, limits.longest_rest_ms)
  const pace = createRate(limits, patience_ms, time, wait)
  const crowded = () => circuitOpen(host, patience_ms)
  const takePlace = createSemaphore(limits.together, longestQueue, crowded)
  const takeShare =
    limits.each === undefined ? undefined : createKeyedSemaphore(limits.each, longestQueue, crowded)

  return async (signal, attempt, caller = '') => {
    try {
      circuit.check()
      const crowd = await pace(signal)
      if (crowd) throw circuitOpen(host, crowd.wait_ms)
      using _share = takeShare && (await takeShare(caller, signal))
      using _place = await takePlace(signal)
      return await circuit.run(attempt)
    } catch (thrown) {
      if (!signal.aborted || thrown instanceof Failure) throw thrown
      throw new Failure('cancelled', 'The caller went away.', {}, thrown)
    }
  }
}
