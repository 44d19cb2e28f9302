import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel'
import { type Code, Failure } from '../../../schemas/failure.ts'
import type { Clock } from '../../common/clock.ts'

interface Circuit {
  /** Throws Failure `circuit_open` while the circuit is open. */
  check(): void
  /** Checks, then runs an attempt. */
  run<Value>(attempt: () => Promise<Value>): Promise<Value>
}

const second = 1_000
const failuresToOpen = 5
const rest_ms = 30 * second
const day = 24 * 3_600 * second
const trouble: ReadonlySet<Code> = new Set<Code>(['upstream_failed', 'upstream_timeout', 'upstream_invalid'])

/**
 * A circuit breaker. It opens for as long as the upstream asks for (`retry_after_s` of a failure; `max_rest_ms` at
 * most), and for half a minute after five failures in a row; then one attempt decides. Cockatiel's breaker reads only
 * Date.now, so Cockatiel only counts failures and sees the circuit as half-open at once; this module keeps the time
 * with `clock`.
 */
export function createCircuit(host: string, clock: Clock, max_rest_ms = day): Circuit {
  let closedUntil = Number.NEGATIVE_INFINITY
  const breaker = circuitBreaker(
    // A cancelled attempt says nothing about the upstream, but as a probe it has not shown that the upstream works.
    handleWhen((error) => isTrouble(error) || breaker.state === CircuitState.HalfOpen),
    { halfOpenAfter: 0, breaker: new ConsecutiveBreaker(failuresToOpen) },
  )
  const rest = (milliseconds: number) => {
    closedUntil = Math.max(closedUntil, clock() + Math.min(milliseconds, max_rest_ms))
  }
  breaker.onBreak((reason) => {
    if ('error' in reason && isTrouble(reason.error)) rest(rest_ms)
  })

  function check(): void {
    const left = closedUntil - clock()
    if (left > 0) throw circuitOpen(host, left)
    if (breaker.state === CircuitState.HalfOpen) throw circuitOpen(host, second)
  }

  return {
    check,
    async run(attempt) {
      check()
      try {
        return await breaker.execute(attempt)
      } catch (thrown) {
        if (thrown instanceof Failure) rest((thrown.details.retry_after_s ?? 0) * second)
        throw thrown
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

function isTrouble(error: unknown): boolean {
  return error instanceof Failure && trouble.has(error.code)
}
