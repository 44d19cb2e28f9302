import { LRUCache } from 'lru-cache'
import { type Clock, monotonic, type Wait } from '../../common/clock.ts'
import { upTo } from '../../common/lru.ts'
import type { UpstreamLimits } from '../../common/upstream.ts'
import { createCircuit } from './circuit.ts'
import { createUpstreamPolicy, maxWait_ms, type UpstreamPolicy } from './upstream-policy.ts'

const maxCallers = 1_000
/** Failures of fewer callers may come from their inputs. */
const callersToOpen = 3

/**
 * The policy of an upstream whose callers do not affect each other. Each caller has its own circuit and at most half of
 * the rate and of the slots. The circuit of all callers opens when three of them fail in a row.
 */
export function createFairPolicy(
  host: string,
  limits: UpstreamLimits,
  clock: Clock,
  wait: Wait,
): UpstreamPolicy {
  const common = createUpstreamPolicy(host, { ...limits, callers_to_open: callersToOpen }, clock, wait)
  const policyOf = perCaller(() => createUpstreamPolicy(host, half(limits), clock, wait))
  return (signal, attempt, caller = '') =>
    policyOf(caller)(signal, () => common(signal, attempt, caller), caller)
}

/**
 * The policy of a listed agent: each caller has a circuit of its own beside the one of all callers, and a share of the
 * slots by `max_in_flight_per_caller`.
 */
export function createAgentPolicy(
  host: string,
  limits: UpstreamLimits,
  clock: Clock,
  wait: Wait,
): UpstreamPolicy {
  const common = createUpstreamPolicy(host, { ...limits, callers_to_open: callersToOpen }, clock, wait)
  const time = monotonic(clock)
  const circuitOf = perCaller(() => createCircuit(host, time, limits))
  return async (signal, attempt, caller = '') => {
    const circuit = circuitOf(caller)
    circuit.check()
    return await common(signal, (begun) => circuit.run(attempt, caller, begun), caller)
  }
}

/** What each of the latest callers has of its own. */
function perCaller<Value extends object>(create: () => Value): (caller: string) => Value {
  const values = new LRUCache<string, Value>(upTo(maxCallers))
  return (caller) => {
    const existing = values.get(caller)
    if (existing) return existing
    const value = create()
    values.set(caller, value)
    return value
  }
}

function half({ gap_ms, burst, max_in_flight, ...limits }: UpstreamLimits) {
  return {
    ...limits,
    gap_ms: 2 * gap_ms,
    burst: Math.max(1, Math.floor(burst / 2)),
    max_in_flight: Math.ceil(max_in_flight / 2),
    max_slot_wait_ms: maxWait_ms,
  }
}
