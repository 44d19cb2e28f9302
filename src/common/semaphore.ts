/** Resolves with a place once there is one, in the order asked for; rejects when the signal aborts. */
export type Acquire = (signal: AbortSignal) => Promise<Disposable>

/**
 * A bounded number of places, each held for as long as something lasts. Where more than `longest` wait, `full` says what
 * is thrown.
 */
export function createSemaphore(
  most: number,
  longest = Number.POSITIVE_INFINITY,
  full: () => Error = () => new Error('Too many wait.'),
): Acquire {
  let taken = 0
  const waiting = new Set<() => void>()

  function leave(): void {
    const [next] = waiting
    // The place goes straight to whoever waits for it.
    if (next) next()
    else taken--
  }

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settled = (settle: () => void) => () => {
        waiting.delete(next)
        signal.removeEventListener('abort', abort)
        settle()
      }
      const next = settled(resolve)
      const abort = settled(() => reject(signal.reason))
      waiting.add(next)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
    })
  }

  return async (signal) => {
    if (taken < most) taken++
    else if (waiting.size >= longest) throw full()
    else await turn(signal)
    let isHeld = true
    return {
      [Symbol.dispose]() {
        if (isHeld) leave()
        isHeld = false
      },
    }
  }
}
