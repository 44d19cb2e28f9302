/** A signal that aborts with the caller's signal or when the time is over. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal
  readonly has_passed: boolean
}

/** Starts a deadline of `milliseconds`. Disposing it clears the timer and the listener on the caller's signal. */
export function startDeadline(caller: AbortSignal, milliseconds: number): Deadline {
  const controller = new AbortController()
  let hasPassed = false
  const follow = () => controller.abort(caller.reason)
  const timer = setTimeout(() => {
    hasPassed = true
    controller.abort()
  }, milliseconds)
  if (caller.aborted) follow()
  caller.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    get has_passed() {
      return hasPassed
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      caller.removeEventListener('abort', follow)
    },
  }
}
