import { type Code, Failure } from '../../../schemas/failure.ts'
import type { Clock } from '../../common/clock.ts'

interface Circuit {
  /** Throws Failure `circuit_open` while the circuit is open, `rate_limited` while the upstream limits the rate. */
  check(): void
  /**
   * Checks, then runs an attempt of a caller. The attempt may tell that the upstream has begun a task, which is an answer
   * before the attempt ends; `onBegun` hears of it then.
   */
  run<Value>(
    attempt: (begun: () => void) => Promise<Value>,
    caller: string,
    onBegun: () => void,
  ): Promise<Value>
}

interface CircuitOptions {
  /** Upper bound for the pause that the upstream asks for; a day when absent. */
  readonly max_rest_ms?: number | undefined
  /** Number of callers among whom the failures in a row must be; 1 when absent. */
  readonly callers_to_open?: number | undefined
}

const second = 1_000
const failuresToOpen = 5
const rest_ms = 30 * second
const day = 24 * 3_600 * second
const trouble: ReadonlySet<Code> = new Set<Code>(['upstream_failed', 'upstream_timeout', 'upstream_invalid'])

/**
 * A circuit breaker. It opens for half a minute after five failures in a row; then one attempt decides. It also opens
 * for as long as the upstream asks for by `retry_after_s` of a failure. If failures of several callers are needed, an
 * input of one caller may have caused that failure, so only the code `rate_limited` has this effect.
 */
export function createCircuit(host: string, clock: Clock, options: CircuitOptions): Circuit {
  const { max_rest_ms = day, callers_to_open = 1 } = options
  let rest: { readonly until: number; readonly refusal: typeof circuitOpen } | undefined
  let isOpen = false
  let isProbing = false
  let failures = 0
  const failing = new Set<string>()

  function check(): void {
    const left = rest ? rest.until - clock() : 0
    if (rest && left > 0) throw rest.refusal(host, left)
    if (isProbing) throw circuitOpen(host, second)
  }

  function pause(milliseconds: number, refusal: typeof circuitOpen): void {
    const until = clock() + Math.min(milliseconds, max_rest_ms)
    if (until > (rest?.until ?? Number.NEGATIVE_INFINITY)) rest = { until, refusal }
  }

  function close(): void {
    isOpen = false
    failures = 0
    failing.clear()
  }

  function count(thrown: unknown, caller: string): void {
    if (!(thrown instanceof Failure)) return
    const retry_ms = (thrown.details.retry_after_s ?? 0) * second
    if (thrown.code === 'rate_limited') pause(retry_ms, paceExceeded)
    if (!trouble.has(thrown.code)) return
    if (callers_to_open === 1) pause(retry_ms, circuitOpen)
    failures++
    failing.add(caller)
    isOpen ||= failures >= failuresToOpen && failing.size >= callers_to_open
    if (isOpen) pause(rest_ms, circuitOpen)
  }

  return {
    check,
    async run(attempt, caller, onBegun) {
      check()
      let isProbe = isOpen
      isProbing = isProbe
      const begun = () => {
        if (isProbe) {
          isProbe = false
          isProbing = false
          close()
        }
        onBegun()
      }
      try {
        const value = await attempt(begun)
        if (isProbe || !isOpen) close()
        return value
      } catch (thrown) {
        count(thrown, caller)
        throw thrown
      } finally {
        if (isProbe) isProbing = false
      }
    },
  }
}

/** The error while a circuit is open. */
export function circuitOpen(host: string, milliseconds: number): Failure {
  const retry_after_s = Math.max(1, Math.ceil(milliseconds / second))
  return new Failure('circuit_open', `${host} is not called for ${retry_after_s} s (circuit open).`, {
    retry_after_s,
  })
}

/** The error when a further request would exceed the pace that an upstream allows. */
export function paceExceeded(host: string, milliseconds: number): Failure {
  const retry_after_s = Math.max(1, Math.ceil(milliseconds / second))
  return new Failure('rate_limited', `${host} accepts the next request in ${retry_after_s} s (rate limit).`, {
    retry_after_s,
  })
}
