/** A signal that follows the caller's and also aborts by itself after a while. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal
  readonly has_passed: boolean
}

/** Starts a deadline of `milliseconds`. Disposing it lets go of the timer and of the caller's signal. */
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
