import { linkSignals } from './abort.ts'

/** A signal that aborts with the caller's signal or when the time is over. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal
  readonly has_passed: boolean
}

/** Starts a deadline of `milliseconds`. Disposing it clears the timer and the listener on the caller's signal. */
export function startDeadline(caller: AbortSignal, milliseconds: number): Deadline {
  const linked = linkSignals(caller)
  let hasPassed = false
  const timer = setTimeout(() => {
    hasPassed = true
    linked.abort()
  }, milliseconds)
  return {
    signal: linked.signal,
    get has_passed() {
      return hasPassed
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      linked[Symbol.dispose]()
    },
  }
}
